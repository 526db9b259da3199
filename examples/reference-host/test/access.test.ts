import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, type CallOptions, startAcme } from './acme-host.ts';
import { scratch } from './booted-host.ts';

const named = (name: string) => `operator_brought_key_of_${name}`.padEnd(44, '_');
const [OWNER, LEAD, NARROW, TESTER, RUNNER, STRANGER, AUDITOR] = [
  named('the_owner'),
  named('a_lead'),
  named('a_narrow_lead'),
  named('a_tester'),
  named('a_runner'),
  named('a_stranger'),
  named('an_auditor'),
];
const WIDE = ['roles:manage', 'withdrawals:manage', 'runs:create', 'runs:read', 'runs:cancel', 'webhooks:manage'];
const key = (id: string, secret: string, fields: object = {}) => ({
  id,
  key: secret,
  tenant: 'acme',
  workspaces: ['*'],
  principal: `p_${id}`,
  scopes: WIDE,
  ...fields,
});
const APIKEYS = [
  key('owner', OWNER),
  key('lead', LEAD),
  key('narrow', NARROW, { scopes: ['roles:manage', 'runs:read'] }),
  key('tester', TESTER, { mode: 'test', principal: 'p_owner' }),
  key('runner', RUNNER, { scopes: ['runs:create', 'runs:read', 'runs:cancel'] }),
  key('stranger', STRANGER, { tenant: 'umbrella' }),
  key('auditor', AUDITOR, { scopes: ['audit:read'] }),
];
const held = (principal: string, role: string, workspace = 'acme-prod', tenant = 'acme') => ({
  principal,
  role,
  workspace,
  tenant,
});
const AUTHORIZATION = {
  roles: [
    { role: 'owner', scopes: WIDE },
    { role: 'lead', scopes: ['roles:manage', 'runs:read', 'runs:create'] },
    { role: 'canceller', scopes: ['runs:cancel'] },
    { role: 'reader', scopes: ['runs:read'] },
    { role: 'auditor', scopes: ['audit:read'] },
  ],
  assignments: [
    held('p_owner', 'owner'),
    held('p_owner', 'owner', 'acme-dev'),
    held('p_lead', 'lead'),
    held('p_lead', 'canceller'),
    held('p_lead', 'reader', 'acme-dev'),
    held('p_narrow', 'owner'),
    held('p_auditor', 'auditor'),
    held('p_stranger', 'owner', 'hive', 'umbrella'),
  ],
};
const ISSUER = 'https://idp.example.com';

let host: AcmeHost;
let sign: (claims: object) => Promise<string>;
const folder = scratch();

beforeAll(async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }];
  writeFileSync(folder.path('jwks.json'), JSON.stringify({ keys }));
  sign = (claims) =>
    new SignJWT({ svc_tenant: 'acme', svc_workspaces: ['acme-prod'], scope: 'runs:read runs:create', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(ISSUER)
      .setAudience('svc')
      .setIssuedAt()
      .setExpirationTime('10m')
      .sign(privateKey);
  const oidc = { issuers: [{ issuer: ISSUER, audience: 'svc', jwksFile: folder.path('jwks.json') }] };
  const baseUrl = 'https://svc.example.com';
  host = await startAcme({}, { apiKeys: APIKEYS, authorization: AUTHORIZATION, oidc, baseUrl });
});
afterAll(async () => {
  await host.stop();
  folder.remove();
});

const at = (path: string) => `/host/example/${path}`;
const as = (key: string, path: string, options: CallOptions = {}) => host.call(at(path), { key, ...options });
const post = (key: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  as(key, path, { body, headers });
const remove = (key: string, path: string) => as(key, path, { method: 'DELETE' });
const read = (credential: string) => host.call('/v1/runs/absent', { key: credential }).then(({ status }) => status);
const assign = (key: string, principal: string, role: string, workspace = 'acme-prod') =>
  post(key, 'assignments', { principal, role, workspace });

/** The credential is accepted and its role allows the operation: the run is absent. */
const ACCEPTED = 404;

describe('roles and assignments', () => {
  test.each(['1', '2'])('are made, used, changed and removed while a host of major %s runs', async (major) => {
    const call = (path: string, options: CallOptions = {}) => as(OWNER, path, { major, ...options });
    const role = `night-${major}`;
    expect(await read(RUNNER)).toBe(403);
    const made = await call('roles', { body: { role, scopes: ['runs:read'] } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ id: role, epoch: 1, source: 'operation', scopes: ['runs:read'] });
    const given = await call('assignments', { body: { principal: 'p_runner', workspace: 'acme-prod', role } });
    expect([given.status, await read(RUNNER)]).toEqual([201, ACCEPTED]);
    expect((await call(`assignments/${given.body.id}`)).body).toEqual(given.body);

    const changed = await call(`roles/${role}`, { method: 'PATCH', body: { scopes: ['runs:cancel'], epoch: 1 } });
    expect([changed.status, changed.body.epoch, await read(RUNNER)]).toEqual([200, 2, 403]);
    const late = await call(`roles/${role}`, { method: 'PATCH', body: { scopes: ['runs:read'], epoch: 1 } });
    expect([late.status, JSON.stringify(late.body)]).toEqual([400, expect.stringContaining('changed meanwhile')]);
    await call(`roles/${role}`, { method: 'PATCH', body: { scopes: ['runs:read'] } });
    expect(await read(RUNNER)).toBe(ACCEPTED);

    expect((await call(`roles/${role}`, { method: 'DELETE' })).status).toBe(400);
    expect((await call(`assignments/${given.body.id}`, { method: 'DELETE' })).status).toBe(204);
    expect([await read(RUNNER), (await call(`roles/${role}`, { method: 'DELETE' })).status]).toEqual([403, 204]);
    expect((await call(`roles/${role}`)).status).toBe(404);
    expect((await call(`assignments/${given.body.id}`)).status).toBe(404);
  });

  test('a repeated request makes one record, with and without an idempotency key', async () => {
    const once = { 'idempotency-key': randomUUID() };
    const asked = { role: 'once', scopes: ['runs:read'] };
    const [first, again] = [await post(OWNER, 'roles', asked, once), await post(OWNER, 'roles', asked, once)];
    expect([again.status, again.headers.get('svc-idempotent-replay'), again.body]).toEqual([201, 'true', first.body]);
    expect((await post(OWNER, 'roles', asked)).status).toBe(400);
    const given = [await assign(OWNER, 'p_twice', 'once'), await assign(OWNER, 'p_twice', 'once')];
    expect(given[1]?.body).toEqual(given[0]?.body);
    const { body } = await as(OWNER, 'assignments?principal=p_twice');
    expect(body.assignments).toHaveLength(1);
  });

  test('are listed in pages, within the reach of the caller', async () => {
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await as(OWNER, `assignments?limit=2&after=${after}`);
      ids.push(...body.assignments.map(({ id }: { id: string }) => id));
      if (body.nextAfter === undefined) break;
      after = body.nextAfter;
    }
    expect(ids).toEqual([...new Set(ids)].sort());
    const { body } = await as(LEAD, 'assignments?limit=200');
    const workspaces = new Set(body.assignments.map(({ workspace }: { workspace: string }) => workspace));
    expect(workspaces).toEqual(new Set(['acme-prod']));
    const roles = await as(OWNER, 'roles?limit=200');
    expect(roles.body.roles.find(({ id }: { id: string }) => id === 'lead')).toMatchObject({ source: 'configuration' });
  });

  const escalations: [string, () => Promise<{ status: number }>, number][] = [
    [
      'defines a role with a scope that no role of its own has',
      () => post(LEAD, 'roles', { role: 'x', scopes: ['webhooks:manage'] }),
      403,
    ],
    [
      'combines scopes of two of its roles',
      () => post(LEAD, 'roles', { role: 'x', scopes: ['runs:read', 'runs:cancel'] }),
      403,
    ],
    [
      'defines a role with a scope that its credential lacks',
      () => post(NARROW, 'roles', { role: 'x', scopes: ['runs:cancel'] }),
      403,
    ],
    ['defines a role of wildcards', () => post(OWNER, 'roles', { role: 'x', scopes: ['*:*'] }), 403],
    ['gives a role with more than it holds', () => assign(LEAD, 'p_friend', 'owner'), 403],
    ['gives a role in a workspace where it holds less', () => assign(LEAD, 'p_friend', 'lead', 'acme-dev'), 403],
    ['gives a role in a workspace that is not there', () => assign(OWNER, 'p_friend', 'reader', 'nowhere'), 403],
    ['gives a role in a workspace of another tenant', () => assign(OWNER, 'p_friend', 'reader', 'hive'), 403],
    ['gives itself a role', () => assign(LEAD, 'p_lead', 'reader'), 403],
    ['gives a role that is not there', () => assign(OWNER, 'p_friend', 'absent'), 400],
    ['gives roles with a credential for tests', () => assign(TESTER, 'p_friend', 'reader'), 403],
    [
      'changes a role of the configuration',
      () => as(OWNER, 'roles/reader', { method: 'PATCH', body: { scopes: ['runs:read'] } }),
      400,
    ],
    ['has no scope for it', () => assign(AUDITOR, 'p_friend', 'reader'), 403],
  ];
  test.each(escalations)('a caller that %s is refused', async (_title, attempt, status) => {
    expect((await attempt()).status).toBe(status);
    const { body } = await as(OWNER, 'assignments?principal=p_friend');
    expect(body.assignments).toEqual([]);
  });

  test('no caller widens a role that is assigned where it holds less, or takes a role that it could not give', async () => {
    expect((await post(OWNER, 'roles', { role: 'shift', scopes: ['runs:read'] })).status).toBe(201);
    const [prod, dev] = [await assign(OWNER, 'p_x', 'shift'), await assign(OWNER, 'p_x', 'shift', 'acme-dev')];
    const widen = (key: string, scopes: string[]) => as(key, 'roles/shift', { method: 'PATCH', body: { scopes } });
    expect((await widen(LEAD, ['runs:read', 'runs:create'])).status).toBe(403);
    expect((await remove(OWNER, `assignments/${dev.body.id}`)).status).toBe(204);
    expect((await widen(LEAD, ['runs:read', 'runs:create'])).status).toBe(200);
    expect((await widen(OWNER, ['webhooks:manage'])).status).toBe(200);
    expect((await remove(LEAD, `assignments/${prod.body.id}`)).status).toBe(403);
    expect((await remove(OWNER, `assignments/${prod.body.id}`)).status).toBe(204);
  });

  test('records of another tenant are absent', async () => {
    const { body: role } = await post(OWNER, 'roles', { role: 'ours', scopes: ['runs:read'] });
    const { body: given } = await assign(OWNER, 'p_ours', 'ours');
    const { body: withdrawn } = await post(OWNER, 'withdrawals', { withdraws: 'principal', principal: 'p_ours' });
    for (const path of [`roles/${role.id}`, `assignments/${given.id}`, `withdrawals/${withdrawn.id}`]) {
      expect([(await as(STRANGER, path)).status, (await remove(STRANGER, path)).status]).toEqual([404, 404]);
      expect((await as(OWNER, path)).status).toBe(200);
    }
    expect((await as(STRANGER, 'assignments')).body.assignments).toHaveLength(1);
    expect((await as(STRANGER, 'withdrawals')).body.withdrawals).toEqual([]);
  });

  test('are in the audit log of their tenant', async () => {
    const { body } = await as(AUDITOR, 'audit?limit=200');
    const actions = new Set(JSON.stringify(body).match(/(?:role|assignment|credential)\.[a-z]+/g));
    // Facts about roles belong to no workspace, and roles confine the auditor to one.
    expect([...actions].sort()).toEqual(expect.arrayContaining(['assignment.created', 'assignment.removed']));
  });
});

describe('withdrawn credentials', () => {
  test('a disabled person is refused with every credential, and accepted again afterwards', async () => {
    await assign(OWNER, 'p_runner', 'reader');
    await assign(OWNER, 'u_1', 'reader');
    const token = await sign({ sub: 'u_1', jti: randomUUID() });
    expect([await read(RUNNER), await read(token)]).toEqual([ACCEPTED, ACCEPTED]);
    const ids: string[] = [];
    for (const principal of ['p_runner', 'u_1']) {
      const { status, body } = await post(OWNER, 'withdrawals', { withdraws: 'principal', principal });
      expect([status, body.principal, body.until]).toEqual([201, principal, undefined]);
      ids.push(body.id);
    }
    expect([await read(RUNNER), await read(token)]).toEqual([401, 401]);
    const { body: refused } = await host.call('/v1/runs/absent', { key: RUNNER });
    expect(refused).toMatchObject({ error: 'key_revoked' });
    for (const id of ids) expect((await remove(OWNER, `withdrawals/${id}`)).status).toBe(204);
    expect([await read(RUNNER), await read(token)]).toEqual([ACCEPTED, ACCEPTED]);
  });

  test.each([
    ['a token', { withdraws: 'token', jti: 'one' }],
    ['a session', { withdraws: 'session', sid: 'first' }],
    [
      'the tokens of a subject until now',
      { withdraws: 'subject', subject: 'u_2', issuedBefore: new Date(Date.now() + 60_000).toISOString() },
    ],
  ])('%s is refused while others stay', async (_title, body) => {
    await assign(OWNER, 'u_2', 'reader');
    await assign(OWNER, 'u_3', 'reader');
    const token = await sign({ sub: 'u_2', jti: 'one', sid: 'first' });
    const other = await sign({ sub: 'u_3', jti: 'two', sid: 'second' });
    expect([await read(token), await read(other)]).toEqual([ACCEPTED, ACCEPTED]);
    const made = await post(OWNER, 'withdrawals', { issuer: ISSUER, ...body });
    expect([made.status, await read(token), await read(other)]).toEqual([201, 401, ACCEPTED]);
    const again = await post(OWNER, 'withdrawals', { issuer: ISSUER, ...body });
    expect([again.body.id, again.body.epoch]).toEqual([made.body.id, 2]);
    expect((await post(STRANGER, 'withdrawals', { issuer: ISSUER, ...body })).status).toBe(201);
    await remove(OWNER, `withdrawals/${made.body.id}`);
    // That of the other tenant reaches no credential of this one.
    expect(await read(token)).toBe(ACCEPTED);
  });

  test('survive the kill of the host, as do roles', async () => {
    const token = await sign({ sub: 'u_4', jti: 'durable' });
    const { body } = await host.killAfter(async () => {
      await assign(OWNER, 'u_4', 'reader');
      return post(OWNER, 'withdrawals', { withdraws: 'token', issuer: ISSUER, jti: 'durable' });
    });
    expect(await read(token)).toBe(401);
    await remove(OWNER, `withdrawals/${body.id}`);
    expect(await read(token)).toBe(ACCEPTED);
  });

  test.each<[string, object, string]>([
    ['the caller', { withdraws: 'principal', principal: 'p_owner' }, 'must not be the caller'],
    [
      'an end in the past',
      { withdraws: 'principal', principal: 'p_z', until: '2020-01-01T00:00:00Z' },
      'in the future',
    ],
    ['no issuer', { withdraws: 'token', jti: 'x' }, 'issuer'],
    ['an unknown kind', { withdraws: 'tenant', tenant: 'acme' }, 'withdraws'],
    ['a control character', { withdraws: 'token', issuer: ISSUER, jti: 'a\u0000b' }, 'control characters'],
  ])('a withdrawal of %s is refused', async (_title, body, problem) => {
    const { status, body: refused } = await post(OWNER, 'withdrawals', body);
    expect([status, JSON.stringify(refused)]).toEqual([400, expect.stringContaining(problem)]);
  });

  test('a stream ends when its caller is withdrawn', async () => {
    const run = await host.call('/v1/runs', { key: OWNER, body: { workflowId: 'approval', inputs: {} } });
    const path = `${host.url()}/v1/runs/${run.body.runId}/events`;
    expect([run.status, run.body]).toEqual([201, expect.anything()]);
    await assign(OWNER, 'p_runner', 'reader');
    const stream = await fetch(path, { headers: { authorization: `Bearer ${RUNNER}`, accept: 'text/event-stream' } });
    expect(stream.status).toBe(200);
    const ended = stream.text();
    const { body } = await post(OWNER, 'withdrawals', { withdraws: 'principal', principal: 'p_runner' });
    await ended;
    await remove(OWNER, `withdrawals/${body.id}`);
  });
});

test('a configuration is imported again without doubles, and what left it is gone', async () => {
  const before = (await as(OWNER, 'assignments?limit=200')).body.assignments;
  await host.reboot({});
  expect((await as(OWNER, 'assignments?limit=200')).body.assignments).toEqual(before);
  const assignments = AUTHORIZATION.assignments.filter(({ principal }) => principal !== 'p_lead');
  await host.reboot({}, { authorization: { ...AUTHORIZATION, assignments } });
  const after = (await as(OWNER, 'assignments?limit=200')).body.assignments;
  const lost = before.filter(({ id }: { id: string }) => !after.some((left: { id: string }) => left.id === id));
  expect(lost.map(({ principal }: { principal: string }) => principal)).toEqual(['p_lead', 'p_lead', 'p_lead']);
  expect((await as(LEAD, 'roles')).status).toBe(403);
});
