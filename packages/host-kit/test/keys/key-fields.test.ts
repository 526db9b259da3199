import { hashApiKey } from '@svc/auth/api-key';
import type { ConfiguredKey } from '@svc/host-kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyHost, startKeyHost } from './key-host.ts';

const ADMIN = 'operator-key-that-manages-keys-0123456789';
const OTHER = 'operator-key-that-manages-others-01234567';
const admin: ConfiguredKey = {
  id: 'admin',
  hash: hashApiKey(ADMIN),
  tenant: 'acme',
  workspaces: ['prod'],
  principal: 'p_admin',
  scopes: ['keys:manage', 'runs:read', 'runs:create'],
  mode: 'live',
};
const other: ConfiguredKey = { ...admin, id: 'other', hash: hashApiKey(OTHER), tenant: 'umbrella', principal: 'p_o' };
const good = { name: 'k', scopes: ['runs:read'] };
const LONG = 'a'.repeat(3000);

let host: KeyHost;
let mine: string;
let foreign: string;
beforeAll(async () => {
  host = await startKeyHost([admin, other]);
  mine = (await host.send('', { key: ADMIN, body: good })).body.apiKey.id;
  foreign = (await host.send('', { key: OTHER, body: good })).body.apiKey.id;
});
afterAll(() => host.stop());

const ask = async (method: string, path: string, body?: unknown) => {
  const { status, body: reply } = await host.send(path, { key: ADMIN, method, ...(body !== undefined && { body }) });
  return { status, error: reply.error, message: reply.message };
};
const invalid = (problem: string) => ({ status: 400, error: 'validation_error', message: `${problem}.` });
const forbidden = (problem: string) => ({
  ...{ status: 403, error: 'forbidden' },
  message: `${problem} A caller gives only authority that it holds.`,
});

describe('a wrong field of a new key is named, with its remedy', () => {
  test.each<[unknown, string]>([
    [[], 'body: must be an object, not a list'],
    [null, 'body: must be an object, not null'],
    [{}, 'name: is required. scopes: is required'],
    [{ ...good, name: LONG }, 'name: must have at most 128 characters'],
    [{ ...good, scopes: [7] }, 'scopes[0]: must be a string, not a number'],
    [{ ...good, workspaces: ['a b'] }, 'workspaces[0]: must be a workspace or "*"'],
    [{ ...good, principal: 'a@b' }, 'principal: must be an opaque id, without @, white space and slash'],
    [{ ...good, principal: '\u0000' }, 'principal: must be an opaque id, without @, white space and slash'],
    [{ ...good, expiresAt: '2027-02-30T00:00:00Z' }, 'expiresAt: must be a time such as 2030-01-31T08:00:00Z'],
    [{ ...good, expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt: must be in the future'],
    [{ ...good, metadata: JSON.parse('{"__proto__":"x"}') }, 'metadata.__proto__: must have another name'],
    [{ ...good, metadata: { a: LONG } }, 'metadata.a: must have at most 256 characters'],
    [{ ...good, rateLimit: { limit: 2e9, windowSeconds: 1 } }, 'rateLimit.limit: must be at most 1000000000'],
    [{ ...good, quota: 5 }, 'quota: must be an object, not a number'],
    [{ ...good, quota: null }, 'quota: must be an object, not null'],
    [{ ...good, quota: { limit: 0, period: 'day' } }, 'quota.limit: must be at least 1'],
    [{ ...good, quota: { limit: 1.5, period: 'day' } }, 'quota.limit: must be a whole number'],
    [{ ...good, quota: { limit: 1e13, period: 'day' } }, 'quota.limit: must be at most 1000000000000'],
    [{ ...good, quota: { limit: 5, period: 'week' } }, 'quota.period: must be "day" or "month"'],
    [
      { ...good, quota: { limit: 5, period: 'day', account: 'admin' } },
      'quota: has no field "account". Check its spelling',
    ],
    [
      { ...good, allowedAddresses: ['10.0.0.1/8'] },
      `allowedAddresses[0]: must be a block of addresses such as 192.0.2.0/24 or 2001:db8::/32`,
    ],
    [{ ...good, tenant: 'umbrella' }, 'body: has no field "tenant". Check its spelling'],
    [{ ...good, hash: 'x' }, 'body: has no field "hash". Check its spelling'],
  ])('%j', async (body, message) => {
    expect(await ask('POST', '', body)).toEqual(invalid(message));
  });

  test.each<[object, string]>([
    [{ ...good, scopes: ['audit:read'] }, 'scopes: must be scopes that the caller holds.'],
    [{ ...good, workspaces: ['hive'] }, 'workspaces: must be workspaces that the caller reaches.'],
    [{ ...good, workspaces: ['nowhere'] }, 'workspaces: must be workspaces that the caller reaches.'],
    [
      { ...good, principal: 'p_o' },
      'principal: must be the principal of the caller, or the caller needs the scope keys:assign.',
    ],
  ])('%j is beyond the caller', async (body, problem) => {
    expect(await ask('POST', '', body)).toEqual(forbidden(problem));
  });
});

describe('a wrong field of a change or a rotation is named, with its remedy', () => {
  test.each<[unknown, string]>([
    [{}, 'body: must have name, scopes, expiresAt or quota'],
    [[], 'body: must be an object, not a list'],
    [{ name: null }, 'name: must be a string, not null'],
    [{ scopes: [] }, 'scopes: must have at least 1 item'],
    [{ scopes: ['runs:create'] }, 'scopes: must be scopes that the key has. Create another key for more'],
    [{ expiresAt: 'x' }, 'expiresAt: must be a time such as 2030-01-31T08:00:00Z'],
    [{ expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt: must be in the future'],
    [{ quota: 7 }, 'quota: must be an object, not a number'],
    [{ quota: { limit: 1 } }, 'quota.period: is required. It must be "day" or "month"'],
    [{ name: 'x', rateLimit: { limit: 1, windowSeconds: 1 } }, 'body: has no field "rateLimit". Check its spelling'],
  ])('change %j', async (body, message) => {
    expect(await ask('PATCH', `/${mine}`, body)).toEqual(invalid(message));
  });

  test.each<[unknown, string]>([
    [[], 'body: must be an object, not a list'],
    [{ graceSeconds: -1 }, 'graceSeconds: must be at least 0'],
    [{ graceSeconds: 1e9 }, 'graceSeconds: must be at most 2592000'],
    [{ graceSeconds: 1.5 }, 'graceSeconds: must be a whole number'],
    [{ graceSeconds: '5' }, 'graceSeconds: must be a number, not a string'],
    [{ expiresAt: null }, 'expiresAt: must be a string, not null'],
    [{ expiresAt: '2001-01-01T00:00:00Z' }, 'expiresAt: must be in the future'],
    [{ quota: null }, 'body: has no field "quota". Check its spelling'],
  ])('rotation %j', async (body, message) => {
    expect(await ask('POST', `/${mine}/rotate`, body)).toEqual(invalid(message));
  });

  test('a key of the configuration is changed there', async () => {
    const message = 'path.keyId: is a key of the configuration. Change it there';
    expect(await ask('PATCH', '/admin', { name: 'x' })).toEqual(invalid(message));
  });

  test('a revoked key is changed and rotated no more', async () => {
    const { body } = await host.send('', { key: ADMIN, body: good });
    await ask('POST', `/${body.apiKey.id}/revoke`);
    const message = 'path.keyId: is revoked. Create another key';
    expect(await ask('PATCH', `/${body.apiKey.id}`, { name: 'x' })).toEqual(invalid(message));
    expect(await ask('POST', `/${body.apiKey.id}/rotate`, {})).toEqual(invalid(message));
  });
});

describe('an id that is not reached is absent, also when other fields are wrong', () => {
  const absent = { status: 404, error: 'not_found', message: 'There is no such key.' };
  const ids = ['%2F', '..%2F', LONG, 'a%20b', '%E2%80%AE', '%ff', "key'%20OR%201=1", '*', 'absent'];

  test.each(ids)('%s', async (id) => {
    expect(await ask('GET', `/${id}`)).toEqual(absent);
    expect(await ask('PATCH', `/${id}`, { name: 'x' })).toEqual(absent);
    expect(await ask('POST', `/${id}/rotate`, {})).toEqual(absent);
    expect(await ask('POST', `/${id}/revoke`)).toEqual(absent);
  });

  test('a key of another tenant answers as one that does not exist', async () => {
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { name: 'x' }],
      ['PATCH', '', { name: 7 }],
      ['PATCH', '', { scopes: ['runs:create'] }],
      ['POST', '/rotate', {}],
      ['POST', '/rotate', { graceSeconds: -1 }],
      ['POST', '/revoke'],
    ] as const) {
      expect(await ask(method, `/${foreign}${path}`, body)).toEqual(await ask(method, `/absent${path}`, body));
    }
    expect((await host.send(`/${foreign}`, { key: OTHER, method: 'GET' })).body).toMatchObject({ state: 'active' });
  });
});

describe('a wrong query of the list is named, with its remedy', () => {
  const known = 'is not a parameter of this operation. Its parameters are limit, after, state, principal';
  test.each([
    ['limit=-1', 'query.limit: must be a whole number'],
    ['limit=x', 'query.limit: must be a whole number'],
    ['limit=', 'query.limit: must be a whole number'],
    ['limit=99999999999999999999', 'query.limit: must be a whole number'],
    ['limit=5&limit=6', 'query.limit: must be given once'],
    ['after=%00', 'query.after: must not contain U+0000'],
    ['after=%2F', 'query.after: must be an id'],
    [`after=${LONG}`, 'query.after: must be an id'],
    ['state=', 'query.state: must be active, expired or revoked'],
    ['state=gone', 'query.state: must be active, expired or revoked'],
    ['state=active&state=revoked', 'query.state: must be given once'],
    ['principal=', 'query.principal: must be an id'],
    ['principal=a@b', 'query.principal: must be an id'],
    ['principal=%00', 'query.principal: must not contain U+0000'],
    ['status=active', `query.status: ${known}`],
    ['Limit=1', `query.Limit: ${known}`],
    [`${LONG}=1`, `query.${'a'.repeat(64)}: ${known}`],
    ['__proto__=1', `query.__proto__: ${known}`],
  ])('%s', async (query, message) => {
    expect(await ask('GET', `?${query}`)).toEqual(invalid(message));
  });

  test('a foreign cursor and a foreign principal show nothing of the other tenant', async () => {
    const list = async (query: string) => (await host.send(`?${query}`, { key: ADMIN, method: 'GET' })).body;
    const beyond = await list(`after=${foreign}`);
    expect(beyond.keys.every(({ tenant }: { tenant: string }) => tenant === 'acme')).toBe(true);
    expect(await list('principal=p_o')).toEqual({ keys: [] });
    const page = await list('limit=0');
    expect([page.keys.length, page.nextAfter]).toEqual([1, 'admin']);
    expect((await list('limit=100000&after=')).keys.length).toBeGreaterThan(1);
  });
});
