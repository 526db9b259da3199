import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mintApiKey } from '@svc/auth/api-key';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type RunningHost, scratch } from './booted-host.ts';
import { BASE, bearer, seconds, sender, signer } from './callers.ts';
import { bootInProcess } from './host-in-process.ts';

const IDP = 'https://idp.example.com';
const PEOPLE = 'https://people.example.com';
const CHAT = '/host/example/public-chat';
const keyOf = (name: string) => `operator_brought_key_of_${name.replaceAll(/[^\w]/g, '_').padEnd(24, 'x')}`;

const [idp, people, stranger] = [await signer('idp'), await signer('people'), await signer('idp')];
const userToken = (changes: object = {}, by = idp) =>
  by.sign({
    iss: IDP,
    sub: 'u-1',
    aud: 'svc',
    svc_tenant: 'acme',
    svc_workspaces: ['acme-prod'],
    scope: 'runs:create runs:read',
    ...changes,
  });
/** An expired token, whose hash is also that of an API key. */
const EXPIRED = await userToken({ iat: seconds() - 7200, exp: seconds() - 3600 });
const MINTED = mintApiKey({ mode: 'live', randomBytes });
const MISTYPED = MINTED.key.slice(0, -1) + (MINTED.key.endsWith('0') ? '1' : '0');

const RUNS = ['runs:create', 'runs:read', 'runs:cancel'];
/** Grants, with the operations that each of them allows. */
const GRANTS: readonly [scope: string, allowed: readonly string[]][] = [
  ['runs:read', ['read']],
  ['runs:create', ['create']],
  ['runs:cancel', ['cancel']],
  ['manifest:read', ['workflow']],
  ['runs:*', ['create', 'read', 'cancel']],
  ['*:read', ['read', 'workflow']],
  ['*:*', ['create', 'read', 'cancel', 'workflow', 'hooks']],
  ['webhooks:manage', ['hooks']],
  ['webhooks:*', ['hooks']],
  ['*', []],
  ['*:*:*', []],
  ['files:read', []],
];
/** Scopes that the configuration refuses for an API key. A token may have them, and they allow nothing. */
const MISSPELT = [
  'runs',
  'RUNS:READ',
  'Runs:read',
  'runs:read:all',
  'runs:*:*',
  'runs:write',
  'runs:manage',
  'runs:all',
] as const;
/** Callers with a kind, and one without. */
const KINDS = [undefined, 'user', 'agent'] as const;

const folder = scratch();
let host: RunningHost;
beforeAll(async () => {
  writeFileSync(folder.path('idp.json'), JSON.stringify(idp.jwks));
  writeFileSync(folder.path('people.json'), JSON.stringify(people.jwks));
  host = await bootInProcess(folder.path('config.json'), configuration());
});
afterAll(async () => {
  await host?.end();
  folder.remove();
});

function configuration(): object {
  const key = (name: string, fields: object = {}) => ({
    id: `key_${createHash('sha256').update(name).digest('hex').slice(0, 12)}`,
    key: keyOf(name),
    tenant: 'acme',
    workspaces: ['acme-prod'],
    principal: 'p_main',
    scopes: RUNS,
    ...fields,
  });
  const hashed = (name: string, secret: string) => ({
    ...key(name),
    key: undefined,
    hash: createHash('sha256').update(secret).digest('hex'),
  });
  return {
    listen: { port: 0 },
    baseUrl: BASE,
    store: `sqlite:${folder.path('svc.db')}`,
    tenants: [
      { id: 'acme', workspaces: ['acme-prod', 'acme-dev'] },
      { id: 'guild', workspaces: ['hall'] },
    ],
    apiKeys: [
      key('main', { scopes: ['runs:*'] }),
      ...GRANTS.map(([scope]) => key(`grant ${scope}`, { scopes: [scope] })),
      ...KINDS.map((principalKind) => key(`kind ${principalKind}`, { principalKind, principal: `p_${principalKind}` })),
      key('dev only', { principal: 'p_dev', workspaces: ['acme-prod', 'acme-dev'] }),
      key('roleless', { principal: 'p_roleless' }),
      key('reader', { principal: 'p_reader' }),
      key('wildcard', { principal: 'p_wildcard', scopes: ['*:*'] }),
      hashed('expired token', EXPIRED),
      hashed('minted', MINTED.key),
      hashed('mistyped', MISTYPED),
    ],
    oidc: {
      issuers: [
        { issuer: IDP, audience: 'svc', jwksFile: folder.path('idp.json'), tenants: ['acme'] },
        {
          issuer: PEOPLE,
          audience: 'svc',
          jwksFile: folder.path('people.json'),
          tenants: ['guild'],
          pseudonymous: true,
        },
      ],
    },
    mounts: { publicChat: { tenant: 'acme', workspace: 'acme-prod', perClient: { limit: 10_000, windowSeconds: 60 } } },
    authorization: {
      roles: [
        { role: 'anything', scopes: ['*:*'] },
        { role: 'reader', scopes: ['runs:read'] },
        { role: 'wildcard-reader', scopes: ['*:read'] },
      ],
      assignments: [
        ...['p_main', 'u-1', ...KINDS.map((kind) => `p_${kind}`)].map((principal) => ({
          principal,
          workspace: 'acme-prod',
          role: 'anything',
        })),
        { principal: 'p_dev', workspace: 'acme-dev', role: 'anything' },
        { principal: 'p_reader', workspace: 'acme-prod', role: 'reader' },
        { principal: 'p_wildcard', workspace: 'acme-prod', role: 'wildcard-reader' },
      ],
    },
  };
}

const call = sender(() => host.url);
const as = (name: string) => bearer(keyOf(name));
const newRun = { workflowId: 'echo', inputs: {} };
const create = (headers: Record<string, string>, body: object = newRun) => call('/v1/runs', { headers, body });

/** Creates a run, and reads it and its first event in a major. */
async function runOf(headers: Record<string, string>, major: '1' | '2' = '1') {
  const { status, body } = await create(headers);
  expect([status, body]).toEqual([201, expect.anything()]);
  const path = major === '1' ? `/v1/runs/${body.runId}` : `/runs/acme~2F${body.runId}`;
  const reading = { headers: { ...as('main'), 'svc-version': major } };
  const { body: page } = await call(`${path}/events/poll`, reading);
  return { path, run: (await call(path, reading)).body, started: page.events[0].payload };
}

describe(
  covers(
    'runs.owner.shape',
    'runs.owner.principal-kind-explicit',
    'runs.owner.principal-kind-passive',
    'runs.subject.workload-kind',
  ),
  () => {
    test.each(KINDS)(
      'a caller of the kind %s owns its run by that kind, and may do what the others may',
      async (kind) => {
        for (const major of ['1', '2'] as const) {
          const { run, started } = await runOf(as(`kind ${kind}`), major);
          expect(run.owner).toEqual({
            tenant: 'acme',
            workspace: 'acme-prod',
            // Major 2 names the principal in the subject alone.
            ...(major === '1' && { principal: `p_${kind}`, ...(kind !== undefined && { principalKind: kind }) }),
            subject: expect.objectContaining({ kind: kind ?? 'workload', subjectId: `p_${kind}`, tenant: 'acme' }),
          });
          expect(started.owner.subject).toEqual(run.owner.subject);
        }
        const statuses = await Promise.all(Object.values(OPERATIONS).map((ask) => ask(as(`kind ${kind}`))));
        expect(statuses).toEqual([201, 404, 404, 403, 403]);
      },
    );
  },
);

/** Requests that are answered 403 without their scope, by name. */
const OPERATIONS: Readonly<Record<string, (headers: Record<string, string>) => Promise<number>>> = {
  create: async (headers) => (await create(headers)).status,
  read: async (headers) => (await call('/v1/runs/run_1', { headers })).status,
  cancel: async (headers) => (await call('/v1/runs/run_1/cancel', { headers, body: {} })).status,
  workflow: async (headers) => (await call('/v1/workflows/echo', { headers })).status,
  hooks: async (headers) =>
    (await call('/v1/webhooks/whk_00000000000000000000?tenantId=acme-prod', { method: 'DELETE', headers })).status,
};

describe(covers('auth.scopes.match-segments', 'auth.scopes.match-wildcard', 'auth.scopes.verb-implication'), () => {
  test.each(GRANTS)('the scope %s allows %j, and nothing else', async (scope, allowed) => {
    const answered: string[] = [];
    for (const [name, ask] of Object.entries(OPERATIONS)) {
      const status = await ask(as(`grant ${scope}`));
      if (status !== 403) answered.push(name);
    }
    expect(answered).toEqual(allowed);
  });

  test.each(MISSPELT)('the scope %s of a token allows nothing', async (scope) => {
    const headers = bearer(await userToken({ scope }));
    const statuses: number[] = [];
    for (const ask of Object.values(OPERATIONS)) statuses.push(await ask(headers));
    expect(statuses).toEqual(Object.values(OPERATIONS).map(() => 403));
  });
});

describe(covers('auth.challenge.resource-metadata'), () => {
  test('a 401 of a host that accepts tokens names the metadata', async () => {
    const { status, headers } = await call('/v1/runs/run_1');
    const metadata = `${BASE}/.well-known/oauth-protected-resource`;
    expect([status, headers.get('www-authenticate')]).toEqual([401, `Bearer resource_metadata="${metadata}"`]);
  });
});

describe(covers('auth.api-key.bearer-header', 'auth.api-key.own-prefix-checked'), () => {
  const secret = keyOf('main');
  test.each<[string, Record<string, string>, number]>([
    ['as a bearer token', { authorization: `Bearer ${secret}` }, 404],
    ['in another case of the scheme', { authorization: `bearer ${secret}` }, 404],
    ['by Basic', { authorization: `Basic ${Buffer.from(`key:${secret}`).toString('base64')}` }, 401],
    ['without a scheme', { authorization: secret }, 401],
    ['by another scheme', { authorization: `ApiKey ${secret}` }, 401],
    ['in another header', { 'x-api-key': secret }, 401],
    ['in a cookie', { cookie: `authorization=Bearer ${secret}` }, 401],
  ])('a key %s', async (_title, headers, status) => {
    expect((await call('/v1/runs/run_1', { headers })).status).toBe(status);
  });

  test('a key of our own with a wrong checksum is refused, although its hash is stored', async () => {
    expect((await call('/v1/runs/run_1', { headers: bearer(MINTED.key) })).status).toBe(404);
    expect((await call('/v1/runs/run_1', { headers: bearer(MISTYPED) })).status).toBe(401);
  });
});

describe(covers('auth.bearer.validated-first', 'auth.models.no-fall-through'), () => {
  test('a token that is valid in every part creates a run', async () => {
    expect((await create(bearer(await userToken()))).status).toBe(201);
  });

  test.each<[string, () => Promise<string>]>([
    ['signed by a stranger', () => userToken({}, stranger)],
    ['signed by another issuer', () => userToken({}, people)],
    ['of an issuer that is not configured', () => userToken({ iss: 'https://evil.example.com' })],
    ['without an issuer', () => userToken({ iss: undefined })],
    ['for another audience', () => userToken({ aud: 'other' })],
    ['without an audience', () => userToken({ aud: undefined })],
    ['that has expired', async () => EXPIRED],
    ['without an expiry', () => userToken({ exp: undefined })],
    ['that is not valid yet', () => userToken({ nbf: seconds() + 3600 })],
    ['that lives too long', () => userToken({ exp: seconds() + 10 * 86_400 })],
    ['without a subject', () => userToken({ sub: undefined })],
    [
      'without a signature',
      async () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await userToken()).split('.')[1]}.`,
    ],
  ])('a token is refused before anything is authorized: %s', async (_name, token) => {
    const headers = bearer(await token());
    // Neither a scope, nor the body, nor the existence of the run shows.
    expect((await create(headers, { nonsense: true })).status).toBe(401);
    expect((await call('/v1/runs/run_1', { headers })).status).toBe(401);
  });

  test('an expired token is refused, although its text is the text of an API key', async () => {
    const { status, body } = await create(bearer(EXPIRED));
    expect([status, body.error]).toEqual([401, expect.not.stringContaining('forbidden')]);
  });
});

describe(covers('auth.tenancy.identity-not-authorization'), () => {
  test.each<[string, object]>([
    ['without scopes', { scope: '' }],
    ['with a scope of another operation', { scope: 'runs:read' }],
    ['without the workspace', { svc_workspaces: ['acme-dev'] }],
    ['with a tenant that the host does not have', { svc_tenant: 'umbrella' }],
  ])('a verified token creates nothing %s', async (_title, claims) => {
    const { status, body } = await create(bearer(await userToken(claims)), { ...newRun, tenantId: 'acme-prod' });
    expect([status, body.error]).toEqual([403, expect.stringMatching(/forbidden$/)]);
  });
});

describe(covers('runs.subject.id-grammar', 'runs.owner.principal-opaque'), () => {
  const personal = 'ada@example.com';

  test.each([personal, 'Ada Lovelace', 'a b', 'user/1'])(
    'the subject %j of an issuer of opaque ids is refused',
    async (sub) => {
      expect((await create(bearer(await userToken({ sub })))).status).toBe(401);
    },
  );

  test('an issuer of personal data names an opaque principal', async () => {
    const claims = { iss: PEOPLE, sub: personal, svc_tenant: 'guild', svc_workspaces: ['hall'] };
    // The pseudonym has no role: the decision names it.
    expect((await create(bearer(await userToken(claims, people)))).status).toBe(403);
    const named = () => decisions().find(({ tenant }) => tenant === 'guild')?.principal;
    await eventually(() => named() !== undefined);
    expect(named()).toMatch(/^[A-Za-z0-9_-]{16,128}$/);
    expect(host.stderr.join('\n')).not.toMatch(/\bada\b/);
  });
});

function decisions(): Record<string, unknown>[] {
  return host.stderr.map((line) => JSON.parse(line)).filter(({ event }) => event === 'authorization.decided');
}

describe(
  covers(
    'auth.roles.resolve-to-scopes',
    'auth.roles.per-principal-and-workspace',
    'auth.roles.fail-closed',
    'auth.roles.deny-forbidden',
  ),
  () => {
    const denied = (scopeRequired: string) => ({
      status: 403,
      body: { error: 'forbidden', message: expect.any(String), scopeRequired },
    });

    test('a role grants by the same matching as a scope', async () => {
      const { path } = await runOf(as('main'));
      for (const name of ['reader', 'wildcard']) {
        expect((await call(path, { headers: as(name) })).status).toBe(200);
        expect(await create(as(name))).toMatchObject(denied('runs:create'));
        expect(await call(`${path}/cancel`, { headers: as(name), body: {} })).toMatchObject(denied('runs:cancel'));
      }
    });

    test('a role counts in its workspace alone', async () => {
      const inDev = { ...newRun, tenantId: 'acme-dev' };
      const inProd = { ...newRun, tenantId: 'acme-prod' };
      expect((await create(as('dev only'), inDev)).status).toBe(201);
      expect(await create(as('dev only'), inProd)).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    });

    test('a principal without a role is denied everything that its scopes allow', async () => {
      const { path } = await runOf(as('main'));
      expect(await create(as('roleless'))).toMatchObject(denied('runs:create'));
      expect(await call(path, { headers: as('roleless') })).toMatchObject(denied('runs:read'));
      const inMajor2 = { ...as('roleless'), 'svc-version': '2' };
      expect(await call('/runs', { headers: inMajor2, body: newRun })).toMatchObject({
        status: 403,
        body: { error: 'forbidden', details: { scopeRequired: 'runs:create' } },
      });
    });
  },
);

describe(
  covers(
    'runs.anonymous.id-single-use',
    'runs.anonymous.id-not-from-caller',
    'runs.anonymous.id-not-resolvable',
    'runs.anonymous.default-deny',
    'runs.anonymous.no-role',
  ),
  () => {
    async function visit(headers: Record<string, string> = {}) {
      const { status, body } = await call(`${CHAT}/sessions`, { method: 'POST', headers });
      expect(status).toBe(201);
      return bearer(body.session);
    }
    async function ownerOf(session: Record<string, string>) {
      const { body } = await call(CHAT, { headers: session, body: { message: 'hello' } });
      const run = (await call(`/v1/runs/${body.runId}`, { headers: as('main') })).body;
      return { runId: String(body.runId), owner: run.owner };
    }

    test('each session has an id of its own, which its caller cannot choose', async () => {
      const chosen = 'anon_00000000000000000000000000000000';
      const wishes: Record<string, string>[] = [
        {},
        {},
        { 'x-forwarded-for': '198.51.100.7', 'user-agent': chosen },
        { 'x-forwarded-for': '198.51.100.7', 'user-agent': chosen },
        { cookie: `principal=${chosen}`, 'x-principal': chosen, 'svc-principal': chosen },
        { 'idempotency-key': '0123456789abcdefghijklmn' },
        { 'idempotency-key': '0123456789abcdefghijklmn' },
      ];
      const ids: string[] = [];
      for (const headers of wishes) {
        const session = await visit(headers);
        const [first, second] = [await ownerOf(session), await ownerOf(session)];
        expect(first.owner.principal).toMatch(/^anon_[0-9a-f]{32}$/);
        expect(second.owner.principal).toBe(first.owner.principal);
        ids.push(first.owner.principal);
      }
      expect(new Set(ids).size).toBe(wishes.length);
      expect(ids).not.toContain(chosen);
    });

    test('the owner of its runs names nothing else, and the id is no credential', async () => {
      const session = await visit();
      const { owner } = await ownerOf(session);
      expect(owner).toEqual({
        tenant: 'acme',
        workspace: 'acme-prod',
        principal: owner.principal,
        principalKind: 'anonymous',
        subject: {
          issuer: expect.any(String),
          subjectId: owner.principal,
          tenant: 'acme',
          lane: 'anonymous',
          kind: 'anonymous',
        },
      });
      for (const guess of [owner.principal, `svcs_${owner.principal}`])
        expect((await call(CHAT, { headers: bearer(guess), body: { message: 'x' } })).status).toBe(401);
      expect(session.authorization).not.toContain(owner.principal.slice('anon_'.length));
    });

    test('a visitor may use no operation but its own conversation', async () => {
      const session = await visit();
      const { runId } = await ownerOf(session);
      const other = await ownerOf(await visit());
      expect((await call(`${CHAT}/${runId}`, { headers: session })).status).toBe(200);
      expect((await call(`${CHAT}/${other.runId}`, { headers: session })).status).toBe(404);
      const withBody = { workflowId: 'fail', message: 'x' };
      expect((await call(CHAT, { headers: session, body: withBody })).status).toBe(400);
      for (const [path, major] of [
        ['/v1/openapi.json', '1'],
        ['/openapi.json', '2'],
      ] as const) {
        const { body: described } = await call(path, { headers: { 'svc-version': major } });
        for (const [template, methods] of Object.entries<Record<string, { security: object[] }>>(described.paths)) {
          for (const [method, { security }] of Object.entries(methods)) {
            if (security.length === 0) continue;
            const target = template.replaceAll(/\{\w+\}/g, 'run_1');
            const headers = { ...session, 'svc-version': major };
            const takesBody = ['post', 'put', 'patch'].includes(method);
            const asked = { method: method.toUpperCase(), headers, ...(takesBody && { body: {} }) };
            expect([template, (await call(target, asked)).status]).toEqual([template, 401]);
          }
        }
      }
    });

    test('no role is resolved for a visitor, and its runs do not name one', async () => {
      const { runId, owner } = await ownerOf(await visit());
      const { body } = await call(`/v1/runs/${runId}/events/poll`, { headers: as('main') });
      const decided = body.events.filter(({ type }: { type: string }) => type === 'authorization.decided');
      expect(JSON.stringify(decided)).not.toContain('role_granted');
      expect(JSON.stringify(decisions())).not.toContain(owner.principal);
    });
  },
);
