import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, startAcme } from './acme-host.ts';
import { eventually, scratch } from './booted-host.ts';
import { BASE, type Signer, seconds, signer } from './callers.ts';

const ISSUER = 'https://idp.example.com';
const KEY = 'operator_brought_key_of_an_owner____________';
const SCOPES = ['keys:manage', 'runs:create', 'runs:read', 'runs:cancel', 'withdrawals:manage'];

const folder = scratch();
let host: AcmeHost;
let idp: Signer;

beforeAll(async () => {
  idp = await signer('k1');
  writeFileSync(folder.path('jwks.json'), JSON.stringify(idp.jwks));
  const owner = { id: 'owner', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_owner', scopes: SCOPES };
  host = await startAcme(
    {},
    {
      baseUrl: BASE,
      apiKeys: [owner],
      oidc: { issuers: [{ issuer: ISSUER, audience: 'svc', jwksFile: folder.path('jwks.json') }] },
      mounts: { mcp: true },
      stepUp: [
        { operations: ['createKey'], acrValues: ['phr', 'phrh'], maxAgeSeconds: 300 },
        { operations: ['cancelRun'], methods: ['hwk'] },
        { scopes: ['withdrawals:*'], maxAgeSeconds: 600 },
      ],
    },
  );
});
afterAll(async () => {
  await host.stop();
  folder.remove();
});

const signedIn = (claims: object = {}) =>
  idp.sign({
    ...{ iss: ISSUER, aud: 'svc', sub: 'u_1', jti: randomUUID(), scope: SCOPES.join(' ') },
    ...{ svc_tenant: 'acme', svc_workspaces: ['acme-prod'] },
    ...claims,
  });
const STRONG = () => ({ acr: 'phr', amr: ['hwk'], auth_time: seconds() - 10 });
const asked = { name: 'ci', scopes: ['runs:read'] };
const createKey = (key: string) => host.call('/host/example/keys', { key, body: asked });

describe('an operation that needs a sign-in', () => {
  test('is allowed with it, and the other operations without it', async () => {
    const made = await createKey(await signedIn(STRONG()));
    expect(made.status).toBe(201);
    const weak = await signedIn();
    expect((await host.call('/host/example/keys', { key: weak })).status).toBe(200);
    expect((await host.call('/v1/runs', { key: weak, body: { workflowId: 'echo', inputs: {} } })).status).toBe(201);
  });

  test.each<[string, () => object]>([
    ['without acr', () => ({ ...STRONG(), acr: undefined })],
    ['with a weaker acr', () => ({ ...STRONG(), acr: 'pwd' })],
    ['with an old sign-in', () => ({ ...STRONG(), auth_time: seconds() - 400 })],
    ['without the time of the sign-in', () => ({ ...STRONG(), auth_time: undefined })],
    ['with a sign-in of the future', () => ({ ...STRONG(), auth_time: seconds() + 400 })],
  ])('is refused %s, with the challenge', async (_title, claims) => {
    const refused = await createKey(await signedIn(claims()));
    expect([refused.status, refused.body.error]).toEqual([401, 'unauthenticated']);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    expect(challenge).toMatch(/^Bearer .*error="insufficient_user_authentication"/);
    expect(challenge).toContain('acr_values="phr phrh"');
    expect(challenge).toContain('max_age="300"');
  });

  test('is refused to an API key, which tells of no sign-in', async () => {
    expect((await createKey(KEY)).status).toBe(401);
  });

  test('is not challenged for a caller that may not use it', async () => {
    const refused = await createKey(await signedIn({ scope: 'runs:read' }));
    expect([refused.status, refused.body.error]).toEqual([403, 'forbidden']);
  });

  test.each(['1', '2'])('of the protocol is refused under major %s', async (major) => {
    const key = await signedIn();
    const create = major === '1' ? '/v1/runs' : '/runs';
    const run = await host.call(create, { key, major, body: { workflowId: 'approval', inputs: {} } });
    const cancel = (by: string) =>
      host.call(`${create}/${encodeURIComponent(run.body.runId)}/cancel`, { key: by, major, method: 'POST', body: {} });
    expect((await cancel(key)).status).toBe(401);
    expect((await cancel(await signedIn({ amr: ['pwd', 'hwk'] }))).status).toBeLessThan(300);
  });

  test('leaves no effect and no used idempotency key behind a refusal', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 'once', scopes: ['runs:read'] };
    const create = async (claims: object) =>
      host.call('/host/example/keys', { key: await signedIn(claims), headers, body });
    expect((await create({})).status).toBe(401);
    expect((await create(STRONG())).status).toBe(201);
  });
});

test('a scope needs its sign-in on every route that uses it', async () => {
  const old = await signedIn({ auth_time: seconds() - 700 });
  const withdrawn = { withdraws: 'principal', principal: 'u_9' };
  const recent = await signedIn(STRONG());
  for (const [path, body] of [
    ['withdrawals', undefined],
    ['withdrawals', withdrawn],
    ['withdrawals/wdr_x', undefined],
  ] as const) {
    const refused = await host.call(`/host/example/${path}`, { key: old, body });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('max_age="600"'),
    ]);
  }
  expect((await host.call('/host/example/withdrawals', { key: recent, body: withdrawn })).status).toBe(201);
});

test('the audit log has the refusal', async () => {
  await createKey(await signedIn());
  await eventually(() => host.stderr().some((line) => line.includes('"request"') && line.includes('"status":401')));
});
