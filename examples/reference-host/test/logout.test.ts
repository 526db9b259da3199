import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, startAcme } from './acme-host.ts';
import { eventually, scratch } from './booted-host.ts';
import { BASE, type Signer, seconds, signer } from './callers.ts';

const ISSUER = 'https://idp.example.com';
const QUIET = 'https://quiet.example.com';
/** Nothing listens there. */
const DOWN = 'http://127.0.0.1:9';
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

const AUDITOR = {
  ...{ id: 'auditor', key: 'operator_brought_key_of_an_auditor_x_______', tenant: 'acme', workspaces: ['*'] },
  ...{ principal: 'p_auditor', scopes: ['withdrawals:manage', 'audit:read'] },
};

const folder = scratch();
let host: AcmeHost;
let idp: Signer;
let stranger: Signer;

beforeAll(async () => {
  [idp, stranger] = await Promise.all([signer('k1'), signer('k1')]);
  writeFileSync(folder.path('jwks.json'), JSON.stringify(idp.jwks));
  const jwksFile = folder.path('jwks.json');
  const backChannelLogout = { clientIds: ['console'] };
  host = await startAcme(
    {},
    {
      baseUrl: BASE,
      tenants: [
        { id: 'acme', workspaces: ['acme-prod'] },
        { id: 'umbrella', workspaces: ['hive'] },
        { id: 'globex', workspaces: ['hq'] },
      ],
      apiKeys: [AUDITOR],
      oidc: {
        issuers: [
          { issuer: ISSUER, audience: 'svc', jwksFile, backChannelLogout, tenants: ['acme'] },
          { issuer: QUIET, audience: 'svc', jwksFile, tenants: ['umbrella'] },
          { issuer: DOWN, audience: 'svc', jwksUri: `${DOWN}/keys`, backChannelLogout, tenants: ['globex'] },
        ],
      },
    },
  );
});
afterAll(async () => {
  await host.stop();
  folder.remove();
});

const access = (claims: object = {}, iss = ISSUER) =>
  idp.sign({
    ...{ iss, aud: 'svc', svc_tenant: 'acme', svc_workspaces: ['acme-prod'], scope: 'runs:read runs:create' },
    ...{ sub: 'u_1', jti: randomUUID() },
    ...claims,
  });
const logout = (claims: object = {}, by = idp, typ = 'logout+jwt') =>
  by.sign({ iss: ISSUER, aud: 'console', jti: randomUUID(), sub: 'u_1', events: { [EVENT]: {} }, ...claims }, { typ });

async function send(token: string, { path = '/host/example/logout', type = FORM, form = encoded(token) } = {}) {
  const response = await fetch(`${host.url()}${path}`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: form,
  });
  const { status, headers } = response;
  return { status, cacheControl: headers.get('cache-control'), body: JSON.parse(await response.text()) };
}
const FORM = 'application/x-www-form-urlencoded';
const encoded = (token: string) => new URLSearchParams({ logout_token: token }).toString();
const read = (credential: string) => host.call('/v1/runs/absent', { key: credential }).then(({ status }) => status);
const [ACCEPTED, DENIED] = [404, 401];

describe('a back-channel logout', () => {
  test.each(['/host/example/logout', '/v1/host/example/logout'])(
    'at %s ends its session, and no other one',
    async (path) => {
      const [sid, other] = [randomUUID(), randomUUID()];
      const [token, fromOther] = [await access({ sid }), await access({ sid: other })];
      expect([await read(token), await read(fromOther)]).toEqual([ACCEPTED, ACCEPTED]);
      const answer = await send(await logout({ sid }), { path, type: `${FORM}; charset=utf-8` });
      expect(answer).toEqual({ status: 200, cacheControl: 'no-store', body: {} });
      expect([await read(token), await read(fromOther), await read(await access({ sid }))]).toEqual([
        ...[DENIED, ACCEPTED, DENIED],
      ]);
    },
  );

  test('without sid ends the earlier sessions of the person, also after a kill of the host', async () => {
    const early = { sub: 'u_2', iat: seconds() - 5 };
    const [token, neighbour] = [await access(early), await access({ ...early, sub: 'u_3' })];
    const { status } = await host.killAfter(async () => send(await logout({ sub: 'u_2', iat: seconds() - 2 })));
    expect(status).toBe(200);
    expect([await read(token), await read(neighbour)]).toEqual([DENIED, ACCEPTED]);
    // A later sign-in.
    expect(await read(await access({ sub: 'u_2' }))).toBe(ACCEPTED);
  });

  test('ends the streams of its session', async () => {
    const sid = randomUUID();
    const key = await access({ sid });
    const run = await host.call('/v1/runs', { key, body: { workflowId: 'approval', inputs: {} } });
    const stream = await fetch(`${host.url()}/v1/runs/${run.body.runId}/events`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    });
    const ended = stream.text();
    expect((await send(await logout({ sid }))).status).toBe(200);
    await ended;
  });

  test('is in no list of a tenant, and is audited by the host', async () => {
    expect((await send(await logout({ sid: randomUUID() }))).status).toBe(200);
    const listed = await host.call('/host/example/withdrawals', { key: AUDITOR.key });
    expect([listed.status, listed.body.withdrawals]).toEqual([200, []]);
    const database = new DatabaseSync(host.path('svc.db'), { timeout: 10_000, readOnly: true });
    const rows = database
      .prepare("SELECT actor, details FROM audit_entries WHERE action = 'credential.withdrawn'")
      .all();
    database.close();
    expect(rows.length).toBeGreaterThan(0);
    for (const { actor, details } of rows) {
      expect(actor).toBeNull();
      expect(JSON.parse(String(details))).toMatchObject({ withdraws: expect.stringMatching(/^(session|subject)$/) });
    }
  });

  test.each<[string, () => Promise<string>]>([
    ['of a stranger under the same key id', () => logout({}, stranger)],
    ['of an issuer that sends none', () => logout({ iss: QUIET })],
    ['of an unknown issuer', () => logout({ iss: 'https://evil.example' })],
    ['for another client', () => logout({ aud: 'other' })],
    ['of another type', () => logout({}, idp, 'JWT')],
    ['without its event', () => logout({ events: {} })],
    ['with a nonce', () => logout({ nonce: 'n' })],
    ['that is an access token', () => access()],
    ['that is no token', async () => 'x'],
  ])('is refused: %s', async (_title, token) => {
    const key = await access();
    const { status, cacheControl, body } = await send(await token());
    expect([status, cacheControl, body]).toEqual([
      ...[400, 'no-store', { error: 'invalid_request', error_description: expect.stringContaining('logout token') }],
    ]);
    expect(await read(key)).toBe(ACCEPTED);
  });

  test('is accepted once', async () => {
    const token = await logout({ sid: randomUUID() });
    expect([(await send(token)).status, (await send(token)).status]).toEqual([200, 400]);
  });

  test.each<[string, object, number]>([
    ['JSON', { type: 'application/json', form: '{}' }, 415],
    ['no parameter', { form: 'a=b' }, 400],
    ['the parameter twice', { form: 'logout_token=a&logout_token=b' }, 400],
    ['no body', { form: '' }, 400],
    ['a body that is too large', { form: `logout_token=${'a'.repeat(20_000)}` }, 413],
  ])('is refused with %s', async (_title, sent, status) => {
    const answer = await send('', sent);
    expect([answer.status, answer.body]).toEqual([
      ...[status, { error: 'invalid_request', error_description: expect.anything() }],
    ]);
  });

  test('of an issuer whose keys cannot be fetched may be sent again, and the log names the cause', async () => {
    const { status, body } = await send(await logout({ iss: DOWN }));
    expect([status, body.error]).toEqual([400, 'temporarily_unavailable']);
    await eventually(() => host.stderr().some((line) => line.includes('"logout.failed"') && line.includes(DOWN)));
  });

  test('is described, and named in discovery', async () => {
    const { body } = await host.call('/host/example/openapi.json', { key: AUDITOR.key });
    expect(body.paths['/host/example/logout'].post.operationId).toBe('receiveLogout');
    expect(body.paths['/host/example/logout'].post.security).toEqual([]);
    const { body: discovery } = await host.call('/.well-known/svc', { key: AUDITOR.key });
    expect(JSON.stringify(discovery)).toContain('/host/example/logout');
  });
});
