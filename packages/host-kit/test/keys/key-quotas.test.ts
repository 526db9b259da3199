import { hashApiKey } from '@svc/auth/api-key';
import type { ConfiguredKey } from '@svc/host-kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyHost, startKeyHost } from './key-host.ts';

const ADMIN = 'operator-key-that-manages-keys-0123456789';
const METERED = 'operator-key-with-a-quota-that-manages-01';
const admin: ConfiguredKey = {
  id: 'admin',
  hash: hashApiKey(ADMIN),
  tenant: 'acme',
  workspaces: ['prod'],
  principal: 'p_admin',
  scopes: ['keys:manage', 'keys:assign', 'runs:read'],
  mode: 'live',
};
const metered: ConfiguredKey = {
  ...admin,
  id: 'metered',
  hash: hashApiKey(METERED),
  principal: 'p_metered',
  quota: { limit: 1000, period: 'month' },
};

let host: KeyHost;
beforeAll(async () => {
  host = await startKeyHost([admin, metered]);
});
afterAll(() => host.stop());

const create = async (body: object, key = ADMIN) =>
  (await host.send('', { key, body: { name: 'k', scopes: ['runs:read'], ...body } })).body;
const change = async (id: string, body: object, key = ADMIN) => {
  const { status, body: reply } = await host.send(`/${id}`, { key, method: 'PATCH', body });
  return { status, quota: reply.quota, message: reply.message };
};
/** The key lacks the scope, and the request counts. */
const ADMITTED = 403;
const use = async (key: string) => (await host.send('', { key, method: 'GET' })).status;

describe('the quota of a key', () => {
  test('a change of the limit goes on with the count, and null removes the quota', async () => {
    const { key, apiKey } = await create({ quota: { limit: 1, period: 'day' } });
    expect(apiKey.quota).toEqual({ limit: 1, period: 'day' });
    expect([await use(key), await use(key)]).toEqual([ADMITTED, 429]);
    const raised = await change(apiKey.id, { quota: { limit: 2, period: 'day' } });
    expect(raised.quota).toMatchObject({ limit: 2, period: 'day', used: 1 });
    expect([await use(key), await use(key)]).toEqual([ADMITTED, 429]);
    expect(await change(apiKey.id, { quota: null })).toMatchObject({ status: 200, quota: undefined });
    expect(await use(key)).toBe(ADMITTED);
  });

  test('a request that the rate limit refuses does not use it up', async () => {
    const rateLimit = { limit: 2, windowSeconds: 3600 };
    const { key, apiKey } = await create({ quota: { limit: 3, period: 'day' }, rateLimit });
    expect([await use(key), await use(key), await use(key), await use(key)]).toEqual([ADMITTED, ADMITTED, 429, 429]);
    const { key: next } = (await host.send(`/${apiKey.id}/rotate`, { key: ADMIN, body: {} })).body;
    // The replacement has a rate limit of its own, and the same count.
    expect([await use(next), await use(next)]).toEqual([ADMITTED, 429]);
  });

  test('a rotation renews no quota: both keys draw on one count', async () => {
    const { key, apiKey } = await create({ quota: { limit: 3, period: 'day' } });
    expect(await use(key)).toBe(ADMITTED);
    const { key: next } = (await host.send(`/${apiKey.id}/rotate`, { key: ADMIN, body: {} })).body;
    expect([await use(next), await use(key)]).toEqual([ADMITTED, ADMITTED]);
    expect([await use(next), await use(key)]).toEqual([429, 429]);
  });

  test('a key that a caller with a quota makes draws on the quota of the caller', async () => {
    const { key, apiKey } = await create({}, METERED);
    expect(apiKey.quota).toEqual({ limit: 1000, period: 'month' });
    const lower = await create({ quota: { limit: 1, period: 'month' } }, METERED);
    // The requests of its maker count.
    expect([await use(key), await use(lower.key)]).toEqual([ADMITTED, 429]);
    const { id } = lower.apiKey;
    const raised = { quota: { limit: 1000, period: 'month' } };
    const message =
      'quota: a caller with a quota can only lower the limit of another. A caller gives only authority that it holds.';
    expect(await change(id, raised, METERED)).toMatchObject({ status: 403, message });
    expect(await change(id, { quota: null }, METERED)).toMatchObject({ status: 403, message });
    expect(await change(id, raised)).toMatchObject({ status: 200 });
    expect(await use(lower.key)).toBe(ADMITTED);
    expect(await change(id, { quota: { limit: 2, period: 'month' } }, METERED)).toMatchObject({ status: 200 });
  });

  test('a caller with a quota rotates no key outside of it', async () => {
    const { apiKey } = await create({});
    const refused = await host.send(`/${apiKey.id}/rotate`, { key: METERED, body: {} });
    expect([refused.status, refused.body.message]).toEqual([
      ...[403, 'quota: the key does not draw on the quota of the caller. A caller gives only authority that it holds.'],
    ]);
  });
});
