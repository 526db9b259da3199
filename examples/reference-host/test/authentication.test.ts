import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { asDescribed } from '@svc/tools/as-described';
import { covers } from '@svc/tools/covers';
import { type IdentityProvider, RESOURCE, startIdentityProvider } from '@svc/tools/identity-provider';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  bootHost,
  eventually,
  launch,
  type Receiver,
  type RunningHost,
  scratch,
  startReceiver,
} from './booted-host.ts';
import { bootInProcess } from './host-in-process.ts';

const send = asDescribed(fetch);

const KEY = 'operator_brought_key_of_enough_characters';
const AUDITOR = 'operator_brought_key_of_the_auditor_only_x';
const DEV = 'operator_brought_key_that_reaches_dev_also';
const ALL = ['runs:create', 'runs:read', 'webhooks:manage'];
const AGENT = 'spiffe://acme.example/agent';
const BASE = 'https://svc.example.com';

const signing = await pair('idp-1');
const spire = await pair('spire-1');
const sts = await pair('sts-1');
let provider: IdentityProvider;

beforeAll(async () => {
  provider = await startIdentityProvider({ keys: [signing.privateJwk] });
});
afterAll(() => provider.stop());

let folder: ReturnType<typeof scratch>;
let host: RunningHost | undefined;
let receiver: Receiver | undefined;
/** The changes of the configuration of a host that later tests may use, too. */
let shared: string | undefined;

async function stop(): Promise<void> {
  await host?.end();
  [host, shared] = [undefined, undefined];
  folder?.remove();
}

afterEach(async () => {
  if (shared === undefined) await stop();
  await receiver?.close();
  receiver = undefined;
});
afterAll(stop);

/** Boots a host, unless that of the last test has the same configuration and was shared, too. */
async function shareHost(changes: object = {}): Promise<void> {
  const wanted = JSON.stringify(changes);
  if (shared === wanted) return;
  await boot(changes);
  shared = wanted;
}

async function boot(changes: object | (() => object) = {}, start = bootInProcess): Promise<string> {
  await stop();
  folder = scratch();
  const key = (id: string, secret: string, fields: object = {}) => ({
    id,
    key: secret,
    tenant: 'acme',
    workspaces: ['acme-prod'],
    principal: `p_${id}`,
    scopes: ALL,
    ...fields,
  });
  writeFileSync(folder.path('spire.json'), JSON.stringify({ keys: [spire.publicJwk] }));
  writeFileSync(folder.path('sts.json'), JSON.stringify({ keys: [sts.publicJwk] }));
  host = await start(folder.path('config.json'), {
    listen: { port: 0 },
    baseUrl: BASE,
    store: `sqlite:${folder.path('svc.db')}`,
    tenants: [{ id: 'acme', workspaces: ['acme-prod', 'acme-dev'] }],
    apiKeys: [
      key('key_1', KEY),
      key('key_2', AUDITOR, { scopes: ['audit:read'] }),
      key('key_3', DEV, { workspaces: ['acme-prod', 'acme-dev'] }),
    ],
    ...(typeof changes === 'function' ? changes() : changes),
  });
  return host.url;
}

const issuers = () => [{ issuer: provider.issuer, audience: RESOURCE, pseudonymous: true }];
const tokens = () => ({ oidc: { issuers: issuers() }, oauth2: { issuers: issuers() } });
const workloads = (changes: object = {}) => ({
  workloadIdentity: {
    schemes: ['spiffe'],
    audience: BASE,
    trustDomains: [{ name: 'acme.example', jwksFile: folder.path('spire.json') }],
    delegation: {
      maxChainDepth: 2,
      issuers: [{ issuer: 'https://sts.example.com', jwksFile: folder.path('sts.json') }],
    },
    bindings: [
      { subject: AGENT, principal: 'p_agent', tenant: 'acme', workspaces: ['acme-prod'], scopes: ['runs:*'] },
      {
        subject: 'user-1',
        principal: 'p_user',
        principalKind: 'user',
        tenant: 'acme',
        workspaces: ['acme-dev'],
        scopes: ALL,
      },
    ],
    ...changes,
  },
});

interface Options {
  readonly method?: string;
  readonly authorization?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

async function call(path: string, { method, authorization, headers = {}, body }: Options = {}) {
  const response = await send(`${host?.url}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const bearer = (token: unknown) => `Bearer ${token}`;
const newRun = { workflowId: 'echo', inputs: { hello: 'world' } };
const seconds = () => Math.floor(Date.now() / 1000);

function signed(by: Awaited<ReturnType<typeof pair>>, claims: object, header: object = {}): Promise<string> {
  const times = { iat: seconds(), exp: seconds() + 120 };
  return new SignJWT({ ...times, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: by.kid, ...header })
    .sign(by.privateKey);
}

async function verifyAudit(query = 'fromSeq=0&toSeq=100000') {
  return call(`/v1/audit/verify?${query}`, { authorization: bearer(AUDITOR) });
}

describe(covers('auth.challenge.metadata-served', 'auth.bearer.profile-advertised'), () => {
  test('a refusal names the metadata that says where to get a token', async () => {
    await shareHost(tokens());
    const refused = await call('/v1/runs/run_1');
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer resource_metadata="${BASE}/.well-known/oauth-protected-resource"`,
    ]);
    const metadata = await call('/.well-known/oauth-protected-resource');
    expect(metadata).toMatchObject({
      status: 200,
      body: {
        resource: BASE,
        authorization_servers: [provider.issuer],
        scopes_supported: expect.arrayContaining(['runs:read']),
        bearer_methods_supported: ['header'],
      },
    });
    expect(metadata.headers.get('svc-version')).toBeNull();
    expect((await call('/.well-known/oauth-protected-resource', { method: 'POST' })).status).toBe(405);

    const { body: v1 } = await call('/.well-known/svc');
    expect(v1.auth).toMatchObject({
      profiles: ['svc-auth-oidc-user-bearer', 'svc-auth-oauth2-client-credentials', 'svc-audit-log-integrity'],
      oidc: { issuers: [provider.issuer], audience: RESOURCE },
    });
    const { body: v2 } = await call('/.well-known/svc', { headers: { 'svc-version': '2' } });
    for (const { extensions } of [v1, v2])
      expect(extensions['example.authentication'].issuers).toContainEqual({
        issuer: provider.issuer,
        audience: RESOURCE,
      });
    expect(v2.auth.lanes.map(({ lane }: { lane: string }) => lane)).toEqual(['api-key', 'oidc', 'oauth2']);
  });

  test('the metadata names the algorithms of DPoP proofs, and whether every token must be bound', async () => {
    await shareHost(tokens());
    const { body } = await call('/.well-known/oauth-protected-resource');
    expect(body.dpop_signing_alg_values_supported).toEqual(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']);
    expect(body).not.toHaveProperty('dpop_bound_access_tokens_required');
    await boot({ ...tokens(), dpop: { required: true } });
    const required = (await call('/.well-known/oauth-protected-resource')).body;
    expect(required).toMatchObject({ dpop_bound_access_tokens_required: true });
  });

  test('a host that accepts no tokens serves no metadata', async () => {
    await boot();
    expect((await call('/v1/runs/run_1')).headers.get('www-authenticate')).toBe('Bearer');
    expect((await call('/.well-known/oauth-protected-resource')).status).toBe(404);
  });
});

describe(covers('auth.bearer.no-isolation-bypass', 'auth.tenancy.scope-is-not-enough'), () => {
  test('a person of a real provider creates a run under an opaque id, and reaches no other workspace', async () => {
    await shareHost(tokens());
    const { access_token: token } = await provider.userTokens('ada@example.com');
    const created = await call('/v1/runs', { authorization: bearer(token), body: newRun });
    // The provider granted only runs:read.
    expect([created.status, created.body.scopeRequired]).toEqual([403, 'runs:create']);
    expect(created.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="runs:create"');

    const mine = await call('/v1/runs', { authorization: bearer(KEY), body: newRun });
    expect((await call(`/v1/runs/${mine.body.runId}`, { authorization: bearer(token) })).status).toBe(200);
    const elsewhere = await call('/v1/runs', { authorization: bearer(DEV), body: { ...newRun, tenantId: 'acme-dev' } });
    const read = await call(`/v1/runs/${elsewhere.body.runId}`, { authorization: bearer(token) });
    expect([read.status, read.body.error]).toEqual([403, 'run_forbidden']);
    expect(host?.stderr.join('\n')).not.toMatch(/\bada\b/);
  });

  test('a machine of a real provider', async () => {
    await shareHost(tokens());
    const { access_token: token } = await provider.clientToken({ scope: 'runs:read runs:create' });
    const created = await call('/v1/runs', { authorization: bearer(token), body: newRun });
    expect(created.status).toBe(201);
    const { body } = await call(`/v1/runs/${created.body.runId}`, { authorization: bearer(token) });
    expect(body.owner).toMatchObject({ tenant: 'acme', workspace: 'acme-prod', subject: { lane: 'oauth2' } });
  });

  test('a token of an unknown tenant is rejected', async () => {
    await boot({ oauth2: { issuers: [{ ...issuers()[0], tenants: ['umbrella'] }] } });
    const { access_token: token } = await provider.clientToken();
    expect(await call('/v1/runs/run_1', { authorization: bearer(token) })).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    });
  });

  test('a token bound to a key requires a proof that names the base URL', async () => {
    await boot({ ...tokens(), dpop: { required: true } });
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const proof = (htm: string, htu: string, token?: string) =>
      new SignJWT({
        htm,
        htu,
        jti: randomUUID(),
        iat: seconds(),
        ...(token !== undefined && { ath: createHash('sha256').update(token).digest('base64url') }),
      })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
        .sign(privateKey);
    const bound = await provider.clientToken({ dpop: await proof('POST', `${provider.issuer}/token`) });
    const token = String(bound.access_token);
    expect(await calculateJwkThumbprint(jwk)).toHaveLength(43);
    const read = async (htu: string, authorization = `DPoP ${token}`) =>
      call('/v1/runs/run_1', { authorization, headers: { dpop: await proof('GET', htu, token) } });
    expect((await read(`${BASE}/v1/runs/run_1`)).status).toBe(404);
    expect((await read(`${host?.url}/v1/runs/run_1`)).body.error).toBe('unauthenticated');
    expect((await read(`${BASE}/v1/runs/run_1`, bearer(token))).body.error).toBe('sender_constraint_missing');
    const { access_token: unbound } = await provider.clientToken();
    expect((await call('/v1/runs/run_1', { authorization: bearer(unbound) })).body.error).toBe(
      'sender_constraint_missing',
    );
  });
});

describe(covers('auth.workload.advertised-shape', 'auth.workload.mapping-documented'), () => {
  // The key files are in the folder of the host, so the configuration is made after the folder.
  const withWorkloads = (changes: object = {}) => boot(() => workloads(changes));

  test('a workload calls with its SVID, and for another principal with a delegation', async () => {
    await withWorkloads();
    const svid = await signed(spire, { sub: AGENT, aud: [BASE] });
    const direct = await call('/v1/runs', { authorization: bearer(svid), body: newRun });
    expect(direct.status).toBe(201);

    const act = { sub: AGENT, iss: 'spiffe://acme.example' };
    const claims = { iss: 'https://sts.example.com', sub: 'user-1', aud: BASE, scope: 'runs:create runs:read', act };
    const headers = { 'svc-delegation': await signed(sts, claims, { typ: 'delegation+jwt' }) };
    const delegated = await call('/v1/runs', { authorization: bearer(svid), headers, body: newRun });
    expect(delegated.status).toBe(201);
    const { body } = await call(`/v1/runs/${delegated.body.runId}`, { authorization: bearer(svid), headers });
    expect(body.owner).toMatchObject({
      principal: 'p_user',
      workspace: 'acme-dev',
      subject: { subjectId: 'p_user', actor: { subjectId: 'p_agent' } },
    });
    expect((await call('/v1/runs', { authorization: bearer(KEY), headers, body: newRun })).body.error).toBe(
      'identity_unverified',
    );
  });

  test('discovery names the schemes, the constraint, the depth and the mapping of subjects to principals', async () => {
    await withWorkloads({ senderConstraint: ['dpop'] });
    const { body: v1 } = await call('/.well-known/svc');
    expect(v1.auth.workloadIdentity).toEqual({
      supported: true,
      schemes: ['spiffe'],
      senderConstraint: ['dpop'],
      delegation: { maxChainDepth: 2 },
      subjectMapping: expect.stringContaining('principal'),
    });
    const { body: v2 } = await call('/.well-known/svc', { headers: { 'svc-version': '2' } });
    expect(v2.auth.lanes).toContainEqual(
      expect.objectContaining({
        lane: 'workload',
        issuers: ['spiffe://acme.example'],
        minimumAssurance: 'key-bound',
        delegationProofs: ['dpop', 'svid-chain'],
      }),
    );
    // A lane of major 2 has no member for the mapping.
    const { supported: _, ...parameters } = v1.auth.workloadIdentity;
    for (const { extensions } of [v1, v2])
      expect(extensions['example.authentication']).toMatchObject({ workloadIdentity: parameters });
    const svid = await signed(spire, { sub: AGENT, aud: [BASE] });
    expect((await call('/v1/runs/run_1', { authorization: bearer(svid) })).body.error).toBe(
      'sender_constraint_missing',
    );
  });
});

describe(
  covers(
    'auth.roles.catalog-advertised',
    'auth.roles.fail-closed-constant',
    'auth.roles.decision-emitted',
    'auth.roles.deny-audited',
  ),
  () => {
    const roles = {
      roles: [
        { role: 'operator', scopes: ['runs:*', 'webhooks:manage'] },
        { role: 'auditor', scopes: ['audit:read'] },
      ],
      assignments: [
        { principal: 'p_key_1', workspace: 'acme-prod', role: 'operator' },
        { principal: 'p_key_3', workspace: 'acme-dev', role: 'operator' },
        { principal: 'p_key_2', workspace: 'acme-prod', role: 'auditor' },
      ],
    };

    test('a caller needs a role beside the scope, and reaches only the workspaces of the role', async () => {
      await shareHost({ authorization: roles });
      const prod = await call('/v1/runs', { authorization: bearer(KEY), body: newRun });
      expect(prod.status).toBe(201);
      // The key reaches both workspaces. Its principal has a role in one of them.
      const own = await call('/v1/runs', { authorization: bearer(DEV), body: newRun });
      expect((await call(`/v1/runs/${own.body.runId}`, { authorization: bearer(DEV) })).body.owner.workspace).toBe(
        'acme-dev',
      );
      expect((await call(`/v1/runs/${prod.body.runId}`, { authorization: bearer(DEV) })).body.error).toBe(
        'run_forbidden',
      );
    });

    test('both discovery documents contain the catalog of roles', async () => {
      await shareHost({ authorization: roles });
      for (const version of ['1', '2']) {
        const { body } = await call('/.well-known/svc', { headers: { 'svc-version': version } });
        expect(body.authorization).toMatchObject({ roles: roles.roles, failClosed: true });
      }
    });

    test('denies a caller without a role, and records the decision in the log and the audit log', async () => {
      await boot({ authorization: { ...roles, assignments: roles.assignments.slice(2) } });
      const denied = await call('/v1/runs', { authorization: bearer(KEY), body: newRun });
      expect(denied).toMatchObject({ status: 403, body: { error: 'forbidden', scopeRequired: 'runs:create' } });
      const decided = {
        principal: 'p_key_1',
        action: 'createRun',
        resource: 'createRun',
        allowed: false,
        reason: 'forbidden',
      };
      await eventually(() => logged('authorization.decided').length > 0);
      expect(logged('authorization.decided')[0]).toMatchObject(decided);
      // A denied request is written in a batch, up to 50 ms after its answer.
      await eventually(() => entries().some(({ operation }) => operation === 'createRun'));
      expect(entries()).toContainEqual(
        expect.objectContaining({ allowed: false, reason: 'forbidden', operation: 'createRun' }),
      );
      expect((await verifyAudit()).body).toMatchObject({ chainValid: true });
    });

    test(`${covers('runs.owner.echoed-on-started', 'runs.subject.echoed-on-started')} an allowed request is followed by its event`, async () => {
      receiver = await startReceiver();
      await boot({ authorization: roles, egress: { allowLoopback: [receiver.port] } });
      const events = ['authorization.decided', 'run.started', 'run.completed'];
      const registered = await call('/v1/webhooks', {
        authorization: bearer(KEY),
        body: { url: receiver.url, events, tenantId: 'acme-prod' },
      });
      receiver.trust(registered.body.secret);
      await call('/v1/runs', { authorization: bearer(KEY), body: newRun });
      await eventually(() => receiver?.deliveries.length === 3);
      const inOrder = [...receiver.deliveries].sort((a, b) => a.event.sequence - b.event.sequence);
      expect(inOrder.map(({ event }) => event.type)).toEqual(['run.started', 'authorization.decided', 'run.completed']);
      expect(inOrder[0]?.event.payload).toMatchObject({ owner: { tenant: 'acme', principal: 'p_key_1' } });
      expect(inOrder[1]?.event.payload).toEqual({
        principal: 'p_key_1',
        action: 'createRun',
        resource: 'createRun',
        allowed: true,
        reason: 'role_granted',
      });
    });
  },
);

describe(
  covers(
    'auth.rate-limit.anonymous-by-address',
    'auth.rate-limit.valid-key-unaffected',
    'errors.rate-limited.v2-header-only',
  ),
  () => {
    test('limits guesses from an address, and not a valid key from there', async () => {
      await boot({ rateLimit: { limit: 5, windowSeconds: 60 } });
      const guess = () => call('/v1/runs/run_1', { authorization: bearer('guess'.repeat(8)) });
      const statuses = [];
      for (let turn = 0; turn < 7; turn++) statuses.push((await guess()).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
      const { headers, body } = await guess();
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(body).toMatchObject({ error: 'rate_limited', details: { limit: 5, window: 60 } });
      expect(body.details.retryAfterSeconds).toBeGreaterThan(0);
      const inMajor2 = { authorization: bearer('guess'.repeat(8)), headers: { 'svc-version': '2' } };
      const limited = await call('/runs/run_1', inMajor2);
      expect(limited.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect([limited.status, limited.body.details]).toEqual([
        429,
        { limit: 5, window: 60, current: expect.any(Number) },
      ]);
      const served = await call('/v1/runs/run_1', { authorization: bearer(KEY) });
      expect(served.status).toBe(404);
      expect(served.headers.get('ratelimit')).toMatch(/^"default";r=4;t=\d+$/);
    });

    test('limits guesses by rateLimit.refusals when it is configured', async () => {
      await boot({ rateLimit: { limit: 100, windowSeconds: 60, refusals: { limit: 2, windowSeconds: 30 } } });
      const guess = () => call('/v1/runs/run_1', { authorization: bearer('guess'.repeat(8)) });
      expect([await guess(), await guess()].map(({ status }) => status)).toEqual([401, 401]);
      const { status, body } = await guess();
      expect([status, body]).toMatchObject([429, { details: { limit: 2, window: 30, current: 2 } }]);
      const served = await call('/v1/runs/run_1', { authorization: bearer(KEY) });
      expect(served.headers.get('ratelimit')).toMatch(/^"default";r=99;t=\d+$/);
    });
  },
);

describe(covers('auth.rate-limit.anonymous-by-address'), () => {
  const path = '/v1/runs/run_1';

  test('requests without a credential are limited, and delay no token and no guess from their address', async () => {
    await boot({ ...tokens(), rateLimit: { limit: 5, windowSeconds: 60 } });
    const { access_token: token } = await provider.userTokens('ada@example.com');
    const statuses = [];
    for (let turn = 0; turn < 25; turn++) statuses.push((await call(path)).status);
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(20).fill(429)]);
    expect((await call(path, { authorization: bearer(token) })).status).toBe(404);
    expect((await call(path, { authorization: bearer('guess'.repeat(8)) })).status).toBe(401);
  });

  test('a user is served while others guess from the same address', async () => {
    await boot({ ...tokens(), rateLimit: { limit: 50, windowSeconds: 60, refusals: { limit: 2, windowSeconds: 60 } } });
    const { access_token: token } = await provider.userTokens('ada@example.com');
    const statuses = [];
    for (let turn = 0; turn < 5; turn++) {
      statuses.push((await call(path, { authorization: bearer(token) })).status);
      statuses.push((await call(path, { authorization: bearer('guess'.repeat(8)) })).status);
    }
    expect(statuses).toEqual([404, 401, 404, 401, 404, 429, 404, 429, 404, 429]);
  });

  const limits = { rateLimit: { limit: 1, windowSeconds: 60 } };
  const local = { cidrs: ['127.0.0.0/8', '::1/128'] };
  const terminator = { mtls: { trustedTerminator: ['127.0.0.0/8'] } };

  test.each<[string, object, header: string, values: string[], statuses: number[]]>([
    [
      'by the address that a trusted proxy reports, with and without its port',
      { trustedProxies: local },
      'x-forwarded-for',
      ['203.0.113.9:4711', '203.0.113.9', '203.0.113.8', '[2001:db8::1]:4711', '2001:db8::2'],
      [401, 429, 401, 401, 429],
    ],
    [
      'by the header Forwarded, when it is configured',
      { trustedProxies: { ...local, header: 'forwarded' } },
      'forwarded',
      ['for="203.0.113.9:4711"', 'for=203.0.113.9;proto=https', 'for="[2001:db8::1]:4711"', 'for="[2001:db8::2]"'],
      [401, 429, 401, 429],
    ],
    [
      'by the last address before as many proxies as are configured',
      { trustedProxies: { ...local, hops: 1 } },
      'x-forwarded-for',
      ['203.0.113.9, 127.0.0.5', '203.0.113.8, 127.0.0.5', '127.0.0.6'],
      [401, 429, 401],
    ],
    [
      'by the header that is configured, and never by the other one',
      { trustedProxies: local },
      'forwarded',
      ['for=203.0.113.9', 'for=203.0.113.8'],
      [401, 429],
    ],
    [
      'by the connection, when the proxy is trusted with certificates alone',
      terminator,
      'x-forwarded-for',
      ['203.0.113.9', '203.0.113.8'],
      [401, 429],
    ],
  ])('counts guesses %s', async (_title, config, header, values, expected) => {
    await boot({ ...limits, ...config });
    const statuses = [];
    for (const value of values) {
      const guess = { authorization: bearer('guess'.repeat(8)), headers: { [header]: value } };
      statuses.push((await call(path, guess)).status);
    }
    expect(statuses).toEqual(expected);
  });
});

describe(covers('auth.request.order'), () => {
  test('refuses a request with several faults for the first one, in the order of the pipeline', async () => {
    await boot({ rateLimit: { limit: 3, windowSeconds: 60 }, limits: { maxRequestBodyBytes: 1024 } });
    const wrong = { method: 'POST', body: { filler: 'x'.repeat(100) } };
    const huge = { method: 'POST', body: { filler: 'x'.repeat(2000) } };
    const path = '/v1/runs';
    const steps = [
      [{ ...huge, headers: { 'svc-version': '9' } }, 413],
      [{ ...wrong, headers: { 'svc-version': '9' } }, 400],
      [wrong, 401],
      [{ ...wrong, authorization: bearer(AUDITOR) }, 403],
      [{ ...wrong, authorization: bearer(KEY) }, 400],
      [{ ...wrong, authorization: bearer(AUDITOR) }, 403],
      [{ ...wrong, authorization: bearer(AUDITOR) }, 403],
      // Its scope is still wrong, but the limit is checked first.
      [{ ...wrong, authorization: bearer(AUDITOR) }, 429],
    ] as const;
    for (const [options, status] of steps) expect((await call(path, options)).status).toBe(status);
  });
});

describe(covers('auth.models.at-least-one'), () => {
  test('createHost throws without lanes', async () => {
    const { createHost, systemRandom } = await import('@svc/host-kit');
    const { memoryStore } = await import('@svc/host-kit/stores/memory');
    const execute = async () => ({ status: 'completed', outputs: {} }) as const;
    const engine = { execute };
    const options = { store: memoryStore(), engine, secretKey: systemRandom(32) };
    expect(() => createHost({ ...options, authenticate: [] })).toThrow('at least one lane');
  });
});

describe(covers('operations.audit.verify', 'operations.audit.verify-gated', 'auth.audit.same-transaction'), () => {
  test('actions are in the chain, and the chain verifies', async () => {
    await boot({ audit: { checkpointIntervalEntries: 4, checkpointIntervalSeconds: 1 } });
    for (let turn = 0; turn < 6; turn++) await call('/v1/runs', { authorization: bearer(KEY), body: newRun });
    await eventually(async () => (await verifyAudit()).body.checkpoints.length >= 3);
    for (const path of ['/v1/audit/verify', '/audit/verify']) {
      const headers = { 'svc-version': path.startsWith('/v1') ? '1' : '2' };
      const answer = await call(`${path}?fromSeq=1&toSeq=1000`, { authorization: bearer(AUDITOR), headers });
      expect(answer).toMatchObject({
        status: 200,
        body: { fromSeq: 1, toSeq: 1000, chainValid: true, checkpointsValid: true, anomalies: [] },
      });
      expect(answer.body.checkpoints[0]).toMatchObject({
        atSequence: expect.any(Number),
        merkleRoot: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
    }
    expect(actions().filter((action) => action === 'run.create')).toHaveLength(6);
    const { body } = await call('/.well-known/svc');
    expect(body.auth.auditLogIntegrity).toMatchObject({ hashChain: true, checkpointIntervalEntries: 4 });
  });

  test.each([
    ['no range', '', 400],
    ['half of one', 'fromSeq=1', 400],
    ['one that goes back', 'fromSeq=5&toSeq=4', 400],
    ['something else than numbers', 'fromSeq=a&toSeq=b', 400],
    ['negative numbers', 'fromSeq=-1&toSeq=4', 400],
    ['two starts', 'fromSeq=1&fromSeq=2&toSeq=4', 400],
    ['an expected sequence alone', 'fromSeq=1&toSeq=4&expectedSeq=3', 400],
    ['an expected sequence of 0', `fromSeq=1&toSeq=4&expectedSeq=0&expectedHash=${'a'.repeat(64)}`, 400],
    ['an expected hash alone', `fromSeq=1&toSeq=4&expectedHash=${'a'.repeat(64)}`, 400],
    ['an expected root that is none', 'fromSeq=1&toSeq=4&expectedSeq=3&expectedRoot=abc', 400],
    [
      'two expected hashes',
      `fromSeq=1&toSeq=4&expectedSeq=3&expectedHash=${'a'.repeat(64)}&expectedHash=${'b'.repeat(64)}`,
      400,
    ],
  ])('%s is refused', async (_name, query, status) => {
    await shareHost();
    expect((await verifyAudit(query)).status).toBe(status);
    expect((await call(`/v1/audit/verify?${query}`, { authorization: bearer(KEY) })).status).toBe(403);
    expect((await call(`/v1/audit/verify?${query}`)).status).toBe(401);
  });

  test('an acknowledged run is in the chain after a kill, and the host continues the chain', async () => {
    const url = await boot({}, bootHost);
    const ids: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      ids.push((await call('/v1/runs', { authorization: bearer(KEY), body: newRun })).body.runId);
    }
    await host?.end();
    expect(url).toBeTruthy();
    const config = JSON.parse(readFileSync(folder.path('config.json'), 'utf8'));
    host = await bootInProcess(folder.path('config.json'), config);
    const { body } = await verifyAudit();
    expect(body).toMatchObject({ chainValid: true });
    const targets = rows().map(({ target }) => target);
    for (const id of ids) expect(targets).toContain(`acme/${id}`);
  });

  test(`${covers('auth.audit.hash-chain')} The database refuses a change, and verification finds a forced one`, async () => {
    await boot({ audit: { checkpointIntervalEntries: 5, checkpointIntervalSeconds: 1 } });
    for (let turn = 0; turn < 5; turn++) await call('/v1/runs', { authorization: bearer(KEY), body: newRun });
    await eventually(async () => (await verifyAudit()).body.checkpoints.length > 0);
    const config = JSON.parse(readFileSync(folder.path('config.json'), 'utf8'));
    await host?.end();
    const database = new DatabaseSync(folder.path('svc.db'), { timeout: 10_000 });
    expect(() => database.exec("UPDATE audit_entries SET actor = 'p_other'")).toThrow('append-only');
    expect(() => database.exec('DELETE FROM audit_entries')).toThrow('append-only');
    expect(() => database.exec('DELETE FROM audit_checkpoints')).toThrow('append-only');
    database.exec('DROP TRIGGER audit_entries_stay');
    database.exec("UPDATE audit_entries SET actor = 'p_other' WHERE at_sequence = 2");
    database.close();
    host = await bootInProcess(folder.path('config.json'), config);
    const { body } = await verifyAudit('fromSeq=1&toSeq=5');
    expect(body.chainValid).toBe(false);
    expect(body.anomalies).toContainEqual({ kind: 'hash-mismatch', atSeq: 2 });
  });

  test('a log that was cut verifies in itself, and does not contain the checkpoint that a caller kept', async () => {
    await boot({ audit: { checkpointIntervalEntries: 3, checkpointIntervalSeconds: 1 } });
    for (let turn = 0; turn < 5; turn++) await call('/v1/runs', { authorization: bearer(KEY), body: newRun });
    await eventually(async () => (await verifyAudit()).body.checkpoints.length > 1);
    const kept = (await verifyAudit()).body.checkpoints.at(-1);
    const expected = `expectedSeq=${kept.atSequence}&expectedRoot=${kept.merkleRoot}`;
    expect((await verifyAudit(`fromSeq=0&toSeq=2&${expected}`)).body).toMatchObject({ chainValid: true });
    const config = JSON.parse(readFileSync(folder.path('config.json'), 'utf8'));
    await host?.end();
    const database = new DatabaseSync(folder.path('svc.db'), { timeout: 10_000 });
    database.exec('DROP TRIGGER audit_entries_last; DROP TRIGGER audit_checkpoints_last;');
    database.exec('DELETE FROM audit_entries; DELETE FROM audit_checkpoints');
    database.close();
    host = await bootInProcess(folder.path('config.json'), config);
    expect((await verifyAudit('fromSeq=0&toSeq=2')).body).toMatchObject({ chainValid: true });
    for (const path of ['/v1/audit/verify', '/audit/verify']) {
      const headers = { 'svc-version': path.startsWith('/v1') ? '1' : '2' };
      const { body } = await call(`${path}?fromSeq=0&toSeq=2&${expected}`, { authorization: bearer(AUDITOR), headers });
      expect(body.chainValid).toBe(false);
      expect(body.anomalies).toContainEqual({
        kind: 'missing-entry',
        atSeq: kept.atSequence,
        detail: expect.stringContaining(`to ${kept.atSequence} are missing`),
      });
    }
  });
});

describe(
  covers(
    'auth.audit.no-credential-in-log',
    'auth.workload.no-raw-material',
    'auth.audit.telemetry-content-free',
    'auth.api-key.hashed-at-rest',
  ),
  () => {
    test('no credential of any kind is in a log, an event or the database', async () => {
      receiver = await startReceiver();
      await boot({ ...tokens(), egress: { allowLoopback: [receiver.port] } });
      const { access_token: client } = await provider.clientToken({ scope: 'runs:create runs:read' });
      const { access_token: user, id_token: id } = await provider.userTokens('ada@example.com');
      const wrong = 'wrong_key_that_somebody_tried_once_or_twice';
      const secrets = [KEY, AUDITOR, wrong, String(client), String(user), String(id)];
      const registered = await call('/v1/webhooks', {
        authorization: bearer(KEY),
        body: { url: receiver.url, events: ['run.started', 'run.completed'], tenantId: 'acme-prod' },
      });
      receiver.trust(registered.body.secret);
      for (const secret of secrets) {
        for (const path of [
          '/v1/runs/run_1',
          `/v1/runs/${secret.slice(0, 60)}`,
          `/v1/audit/verify?access_token=${secret}`,
        ]) {
          await call(path, {
            authorization: bearer(secret),
            headers: { 'x-api-key': secret, cookie: `session=${secret}` },
          });
          await call(path, { authorization: `Basic ${secret}` });
        }
        await call('/v1/runs', { authorization: bearer(secret), body: newRun });
      }
      await eventually(() => (receiver?.deliveries.length ?? 0) >= 4);
      expect((await verifyAudit()).body).toMatchObject({ chainValid: true });
      await host?.end();

      const kept = readdirSync(dirname(folder.path('x')))
        .filter((name) => name !== 'config.json')
        .map((name) => readFileSync(join(dirname(folder.path('x')), name)).toString('latin1'));
      const deliveries = JSON.stringify(receiver.deliveries);
      const everything = [...kept, deliveries, host?.stderr.join('\n') ?? ''].join('\n');
      expect(everything.length).toBeGreaterThan(10_000);
      const forbidden = [...secrets.flatMap((secret) => secret.split('.')), registered.body.secret, 'ada@example.com'];
      for (const secret of forbidden.filter(({ length }) => length > 12)) expect(everything).not.toContain(secret);
    });
  },
);

describe(covers('auth.audit.request-logged', 'auth.audit.trace-context-no-evidence'), () => {
  test('logs the trace of a request, and decides nothing by it', async () => {
    await boot();
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01`, tracestate: 'principal=p_key_1,scope=runs:read' };
    expect((await call('/v1/runs/run_1', { headers })).status).toBe(401);
    expect((await call('/v1/runs/run_1', { headers, authorization: bearer(AUDITOR) })).status).toBe(403);
    expect((await call('/v1/runs/run_1', { headers, authorization: bearer(KEY) })).status).toBe(404);
    await call('/v1/runs/run_1', { headers: { traceparent: 'x'.repeat(55) }, authorization: bearer(KEY) });
    await eventually(() => logged('request').length === 3);
    expect(logged('request').map(({ keyId, status, traceId }) => [keyId, status, traceId])).toEqual([
      ['key_2', 403, trace],
      ['key_1', 404, trace],
      ['key_1', 404, undefined],
    ]);
    expect(logged('request')[1]).toMatchObject({
      operation: 'readRun',
      method: 'GET',
      path: '/runs/{runId}',
      scope: 'runs:read',
      latencyMs: expect.any(Number),
      binding: 'bearer',
    });
  });
});

describe('a configuration whose parts do not fit', () => {
  test.each([
    [
      'a missing key file',
      { oidc: { issuers: [{ issuer: 'https://idp.example.com', audience: 'svc', jwksFile: '/nowhere' }] } },
    ],
    [
      'an issuer that speaks for the tenants of another',
      {
        oidc: { issuers: ['a', 'b'].map((name) => ({ issuer: `https://${name}.example.com`, audience: 'svc' })) },
      },
    ],
    [
      'an issuer of opaque tokens that speaks for the tenants of another',
      {
        oidc: { issuers: [{ issuer: 'https://a.example.com', audience: 'svc' }] },
        introspection: {
          ...{ issuer: 'https://b.example.com', endpoint: 'https://b.example.com/introspect', audience: 'svc' },
          ...{ clientId: 'svc', clientSecretFile: fileURLToPath(import.meta.url) },
        },
      },
    ],
  ])('%s stops the boot with a reason', async (_name, changes) => {
    folder = scratch();
    const started = launch(folder.path('config.json'), {
      listen: { port: 0 },
      store: 'memory:',
      tenants: [{ id: 'acme' }],
      ...changes,
    });
    expect(await started.ended).not.toBe(0);
    expect(started.stderr.join('\n')).toMatch(/nowhere|speak for one tenant/);
  });
});

function logged(event: string): Record<string, unknown>[] {
  return (host?.stderr ?? []).map((line) => JSON.parse(line)).filter((record) => record.event === event);
}

function rows(): Record<string, unknown>[] {
  const database = new DatabaseSync(folder.path('svc.db'), { timeout: 10_000, readOnly: true });
  try {
    return database.prepare('SELECT * FROM audit_entries ORDER BY at_sequence').all();
  } finally {
    database.close();
  }
}

const actions = () => rows().map(({ action }) => action);
const entries = () => rows().map(({ details }) => JSON.parse(String(details)));

async function pair(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const common = { kid, alg: 'ES256', use: 'sig' };
  return {
    kid,
    privateKey,
    publicJwk: { ...(await exportJWK(publicKey)), ...common },
    privateJwk: { ...(await exportJWK(privateKey)), ...common },
  };
}
