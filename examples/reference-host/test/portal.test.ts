import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, KEY, OTHER_TENANT, startAcme, WIDE } from './acme-host.ts';

let host: AcmeHost;
let own: string;
let ofDev: string;

beforeAll(async () => {
  const scopes = ['webhooks:manage', 'audit:read', 'keys:manage'];
  const key = (secret: string, workspaces: readonly string[], tenant = 'acme') => ({
    ...{ id: `key_${secret.slice(-8)}`, key: secret, tenant, workspaces, principal: `p_${secret.slice(-8)}`, scopes },
  });
  const apiKeys = [
    key(KEY, ['acme-prod']),
    key(DEV, ['acme-dev']),
    key(WIDE, ['*']),
    key(OTHER_TENANT, ['*'], 'umbrella'),
  ];
  host = await startAcme({ durable: true }, { portal: true, apiKeys });
  const register = async (tenantId: string, key: string) => {
    const body = { url: host.receiver.url, events: ['run.completed'], tenantId };
    return (await host.call('/v1/webhooks', { key, body })).body.webhookId as string;
  };
  [own, ofDev] = [await register('acme-prod', KEY), await register('acme-dev', DEV)];
});
afterAll(() => host.stop());

/** Asks without the description of the operations of a key: those of a session are described apart. */
async function ask(path: string, token?: string, body?: object) {
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(host.url() + path, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
}

const create = (fields: object = {}, key = KEY) =>
  ask('/host/example/portal-sessions', key, { actions: ['view'], ...fields });

async function open(fields: object = {}, key = KEY) {
  const { body } = await create(fields, key);
  const exchanged = await ask('/host/example/portal/exchange', undefined, { code: body.code });
  return { ...body, token: exchanged.body.token as string };
}

describe(
  covers('portal.session.created', 'portal.session.bounds', 'portal.session.code-once', 'portal.page.origin'),
  () => {
    test('a session within the reach of its caller has a URL, whose page its origin alone embeds', async () => {
      const origin = 'https://app.acme.example';
      const { status, body } = await create({ origin });
      expect([status, body.url]).toEqual([
        201,
        `${host.url()}/portal/?origin=${encodeURIComponent(origin)}#code=${body.code}`,
      ]);
      const page = await ask('/portal/?origin=https%3A%2F%2Fapp.acme.example');
      expect(page.headers.get('content-security-policy')).toContain(`frame-ancestors ${origin};`);
      expect((await ask('/portal/')).headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      const exchange = (from: string) =>
        ask('/host/example/portal/exchange', undefined, { code: body.code, origin: from });
      expect((await exchange('https://evil.example')).status).toBe(401);
      expect((await exchange(origin)).status).toBe(200);
      expect((await exchange(origin)).status).toBe(401);
      expect((await create({ workspaces: ['acme-dev'] })).status).toBe(403);
      expect((await create({ expiresInSeconds: 3601 })).status).toBe(400);
    });
  },
);

describe(
  covers('portal.session.token-alone', 'portal.session.actions', 'portal.session.reach', 'portal.session.description'),
  () => {
    test('a token reaches the webhooks and the actions of its session, and no other operation', async () => {
      const { token } = await open({ workspaces: ['acme-prod'] }, WIDE);
      const path = (id: string) => `/host/example/portal/webhooks/${id}`;
      expect((await ask(path(own), token)).status).toBe(200);
      const unknown = await ask(path('whk_00000000000000000000000000'), token);
      const other = await ask(path(ofDev), token);
      expect([other.status, other.body]).toEqual([404, unknown.body]);
      expect((await ask(`${path(own)}/pause`, token, {})).status).toBe(403);
      for (const elsewhere of ['/host/example/webhooks', '/v1/runs', '/host/example/portal-sessions'])
        expect((await ask(elsewhere, token, {})).status).toBe(elsewhere.endsWith('/webhooks') ? 405 : 401);
      expect((await ask('/host/example/webhooks', token)).status).toBe(401);
      expect((await ask(path(own), KEY)).status).toBe(401);
      const described = await ask('/host/example/portal/openapi.json');
      expect(Object.keys(described.body.paths)).toContain('/host/example/portal/webhooks/{webhookId}/pause');
    });
  },
);

describe(covers('portal.session.revoked', 'portal.session.audited'), () => {
  test('a revoked session is refused at once, and others cannot see it', async () => {
    const { token, session } = await open();
    const path = `/host/example/portal-sessions/${session.sessionId}`;
    for (const key of [DEV, OTHER_TENANT]) expect((await ask(path, key)).status).toBe(404);
    expect((await ask(`${path}/revoke`, KEY, {})).body.state).toBe('revoked');
    expect((await ask('/host/example/portal/session', token)).status).toBe(401);
    const listed = (await ask('/host/example/portal-sessions', KEY)).body.sessions;
    expect(listed.map(({ sessionId }: { sessionId: string }) => sessionId)).toContain(session.sessionId);
    const { entries } = (await ask('/host/example/audit', WIDE)).body;
    const actions = entries.flatMap(({ action, target }: { action: string; target: string | null }) =>
      target?.endsWith(session.sessionId) ? [action] : [],
    );
    const recorded = ['portal-session.create', 'portal-session.exchange', 'portal-session.revoke'];
    expect(actions.filter((action: string) => recorded.includes(action)).toSorted()).toEqual(recorded);
  });

  test('a session ends with the key that created it, and not with a rotation of that key', async () => {
    const keys = '/host/example/keys';
    const made = (await ask(keys, KEY, { name: 'For the portal', scopes: ['webhooks:manage'] })).body;
    const { token } = await open({}, made.key);
    const status = async () => (await ask('/host/example/portal/session', token)).status;
    const rotated = (await ask(`${keys}/${made.apiKey.id}/rotate`, KEY, { graceSeconds: 0 })).body;
    expect((await ask('/host/example/portal-sessions', made.key)).status).toBe(401);
    expect(await status()).toBe(200);
    expect((await ask(`${keys}/${rotated.apiKey.id}/revoke`, KEY, {})).status).toBe(200);
    expect(await status()).toBe(401);
  });
});
