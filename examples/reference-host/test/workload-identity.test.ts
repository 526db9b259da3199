import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { type Issued, issue } from '@svc/tools/certificates';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type RunningHost, scratch } from './booted-host.ts';
import { BASE, bearer, prover, type Sending, type Signer, seconds, sender, signer } from './callers.ts';
import { bootInProcess } from './host-in-process.ts';

const KEY = 'operator_brought_key_of_enough_characters';
const [AGENT, SECOND, THIRD, FOURTH, FIFTH, SIXTH] = ['agent', 'second', 'third', 'fourth', 'fifth', 'sixth'].map(
  (name) => `spiffe://acme.example/${name}`,
) as [string, string, string, string, string, string];
const IDLE = 'spiffe://acme.example/idle';
const CLOUD = 'https://token.cloud.example';
const OTHER_CLOUD = 'https://token.other-cloud.example';
/** The form of a token. It is a subject in this test, and bound to a principal. */
const TOKEN = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJqb2IifQ.c2lnbmF0dXJl';
/** Nothing listens there. */
const DOWN = 'http://127.0.0.1:9';
const CLIENTS = 'https://auth.example.com';
const STS = 'https://sts.example.com';

const [spire, authority, cloud, otherCloud, clients, sts, stranger] = (await Promise.all(
  ['spire', 'authority', 'cloud', 'other-cloud', 'clients', 'sts', 'sts'].map(signer),
)) as [Signer, Signer, Signer, Signer, Signer, Signer, Signer];
const root = await issue('root', { isAuthority: true });
const certificate = await issue('agent', { uris: [AGENT] }, root);
const device = await prover();

const folder = scratch();
let host: RunningHost;
/** A host that demands identities that are bound to a key. */
let strict: RunningHost;

beforeAll(async () => {
  for (const [name, { jwks }] of Object.entries({ spire, cloud, otherCloud, sts }))
    writeFileSync(folder.path(`${name}.json`), JSON.stringify(jwks));
  writeFileSync(folder.path('bundle.json'), JSON.stringify(bundle()));
  writeFileSync(folder.path('root.pem'), root.pem);
  [host, strict] = await Promise.all([
    bootInProcess(folder.path('host.json'), configuration('host', {})),
    bootInProcess(folder.path('strict.json'), configuration('strict', { senderConstraint: ['dpop'] })),
  ]);
});
afterAll(async () => {
  await Promise.all([host?.end(), strict?.end()]);
  folder.remove();
});

/** The SPIFFE bundle of the trust domain: its key for tokens, and an authority of certificates. */
function bundle(): object {
  const used = ({ jwks }: Signer, use: string) => jwks.keys.map(({ alg: _alg, ...key }) => ({ ...key, use }));
  return {
    spiffe_sequence: 1,
    spiffe_refresh_hint: 600,
    keys: [...used(authority, 'x509-svid'), ...used(spire, 'jwt-svid')],
  };
}

/** Returns a configuration. `host` reads the keys of its trust domain from a SPIFFE bundle, and others from a plain key set. */
function configuration(name: string, workloads: object): object {
  const keys = name === 'host' ? 'bundle.json' : 'spire.json';
  const scopes = ['runs:create', 'runs:read', 'runs:cancel'];
  const binding = (subject: string, principal: string, fields: object = {}) => ({
    subject,
    principal,
    tenant: 'acme',
    workspaces: ['acme-prod'],
    scopes,
    ...fields,
  });
  const workers = ['p_agent', 'p_second', 'p_user', 'p_one', 'p_other', 'p_key'];
  return {
    listen: { port: 0 },
    baseUrl: BASE,
    store: `sqlite:${folder.path(`${name}.db`)}`,
    tenants: [
      { id: 'acme', workspaces: ['acme-prod', 'acme-dev'] },
      { id: 'globex', workspaces: ['hq'] },
    ],
    apiKeys: [{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_key', scopes }],
    mtls: { trustedTerminator: ['127.0.0.1/32'] },
    workloadIdentity: {
      schemes: ['spiffe', 'cloud-subject'],
      audience: BASE,
      trustDomains: [{ name: 'acme.example', jwksFile: folder.path(keys), authoritiesFile: folder.path('root.pem') }],
      issuers: [
        { scheme: 'cloud-subject', issuer: CLOUD, jwksFile: folder.path('cloud.json') },
        { scheme: 'cloud-subject', issuer: OTHER_CLOUD, jwksFile: folder.path('otherCloud.json') },
        { scheme: 'cloud-subject', issuer: DOWN, jwksUri: `${DOWN}/keys` },
      ],
      bindings: [
        binding(AGENT, 'p_agent', { principalKind: 'agent' }),
        binding(SECOND, 'p_second'),
        binding(IDLE, 'p_idle'),
        binding('user-1', 'p_user', { issuer: STS, principalKind: 'user', scopes: ['runs:create', 'runs:read'] }),
        binding('user-idle', 'p_user_idle', { issuer: STS, principalKind: 'user' }),
        binding('user-globex', 'p_elsewhere', { issuer: STS, tenant: 'globex', workspaces: ['hq'] }),
        binding('job', 'p_one', { issuer: CLOUD }),
        binding(TOKEN, 'p_one', { issuer: CLOUD }),
        binding(root.pem, 'p_one', { issuer: CLOUD }),
        binding('job', 'p_other', { issuer: OTHER_CLOUD }),
      ],
      delegation: { maxChainDepth: 5, issuers: [{ issuer: STS, jwksFile: folder.path('sts.json') }] },
      ...workloads,
    },
    authorization: {
      roles: [{ role: 'worker', scopes: ['runs:*'] }],
      assignments: workers.map((principal) => ({ principal, workspace: 'acme-prod', role: 'worker' })),
    },
  };
}

const call = sender(() => host.url);
const callStrict = sender(() => strict.url);
const newRun = { workflowId: 'echo', inputs: {} };
const create = (headers: Record<string, string>) => call('/v1/runs', { headers, body: newRun });

const svid = (changes: object = {}, header: object = {}) => spire.sign({ sub: AGENT, aud: [BASE], ...changes }, header);
const cloudToken = (changes: object = {}, by = cloud) => by.sign({ iss: CLOUD, sub: 'job', aud: BASE, ...changes });

/** The refusal of a request to create a run, without which nothing is created. */
async function refusalOf(headers: Record<string, string>, send: typeof call = call) {
  const { status, headers: answered, text, body } = await send('/v1/runs', { headers, body: newRun });
  return { status, code: body.error, retryAfter: answered.get('retry-after'), text };
}

/** Reads a run until it has ended, as the caller of the headers. */
async function endedRun(headers: Record<string, string>) {
  const created = await create(headers);
  expect([created.status, created.text]).toEqual([201, expect.anything()]);
  const path = `/v1/runs/${created.body.runId}`;
  await eventually(async () => (await call(path, { headers })).body.status === 'completed');
  const { body: run } = await call(path, { headers });
  const { body: page } = await call(`${path}/events/poll`, { headers });
  return { path, run, events: page.events };
}

const unverified = { status: 401, code: 'identity_unverified', retryAfter: null };

describe(
  covers(
    'auth.workload.cryptographic-verification',
    'auth.workload.unverified',
    'auth.workload.strings-not-empty',
    'auth.workload.subject-not-credential',
    'errors.code.identity-401',
    'errors.code.identity-not-retriable',
  ),
  () => {
    test.each<[string, () => Promise<string>, string]>([
      ['an SVID', () => svid(), 'p_agent'],
      ['a token of a cloud', () => cloudToken(), 'p_one'],
    ])('%s that verifies creates a run', async (_name, token, principal) => {
      const { run } = await endedRun(bearer(await token()));
      expect(run.owner).toMatchObject({ tenant: 'acme', workspace: 'acme-prod', principal });
    });

    test('an identity without a subject is refused', async () => {
      expect((await create(bearer(await svid({ sub: undefined })))).status).toBe(401);
    });

    test.each<[string, () => Promise<string>]>([
      [
        'signed by a stranger under the same key id',
        () => stranger.sign({ sub: AGENT, aud: [BASE] }, { kid: 'spire' }),
      ],
      ['signed by an authority of certificates of the same bundle', () => authority.sign({ sub: AGENT, aud: [BASE] })],
      ['signed by the key of another trust root', () => cloud.sign({ sub: AGENT, aud: [BASE] })],
      ['of a trust domain that is not trusted', () => svid({ sub: 'spiffe://evil.example/agent' })],
      ['of the trust domain itself', () => svid({ sub: 'spiffe://acme.example' })],
      ['with dot segments', () => svid({ sub: 'spiffe://acme.example/x/../agent' })],
      ['expired', () => svid({ iat: seconds() - 900, exp: seconds() - 120 })],
      ['without an expiry', () => svid({ exp: undefined })],
      ['of a cloud, without a subject', () => cloudToken({ sub: undefined })],
      ['of a cloud, with an empty subject', () => cloudToken({ sub: '' })],
      ['of a cloud, with a token for its subject', () => cloudToken({ sub: TOKEN })],
      ['of a cloud, with a certificate for its subject', () => cloudToken({ sub: root.pem })],
      ['of one cloud, signed by the other', () => cloudToken({ iss: OTHER_CLOUD })],
    ])('an identity is refused: %s', async (_name, token) => {
      const refused = await refusalOf(bearer(await token()));
      expect(refused).toMatchObject(unverified);
      expect(refused.text).not.toMatch(/acme|spiffe:|BEGIN/);
    });
  },
);

describe(covers('auth.workload.scheme-advertised'), () => {
  test('an identity of a scheme that discovery does not list is refused', async () => {
    const { body } = await call('/.well-known/svc');
    expect(body.auth.workloadIdentity.schemes).toEqual(['spiffe', 'cloud-subject']);
    const token = await clients.sign({ iss: CLIENTS, client_id: 'c', sub: 'c', aud: BASE }, { typ: 'at+jwt' });
    expect(await refusalOf(bearer(token))).toMatchObject({ status: 401 });
    // A token of an accepted issuer, but in the form of another scheme.
    const other = await cloud.sign({ iss: CLOUD, client_id: 'job', sub: 'job', aud: BASE }, { typ: 'at+jwt' });
    expect(await refusalOf(bearer(other))).toMatchObject(unverified);
  });
});

describe(covers('auth.workload.audience-own'), () => {
  test.each([[['https://other.example.com']], [[`${BASE}/`]], ['svc'], [undefined]])('audience %j', async (aud) => {
    const refused = await refusalOf(bearer(await svid({ aud })));
    expect(refused).toMatchObject({ status: 401, code: 'audience_mismatch', retryAfter: null });
  });
});

describe(
  covers(
    'auth.workload.unresolvable',
    'auth.workload.resolved-before-authorization',
    'auth.workload.infrastructure-error-refuses',
  ),
  () => {
    test('an identity without a principal is refused before its scopes matter', async () => {
      const nobody = bearer(await svid({ sub: 'spiffe://acme.example/nobody' }));
      const refused = await refusalOf(nobody);
      expect(refused).toMatchObject({ status: 401, code: 'identity_unresolvable', retryAfter: null });
      // An operation that is open to every principal refuses it, too.
      expect((await call('/v1/runs/run_1', { headers: nobody })).body.error).toBe('identity_unresolvable');
    });

    test('an identity is refused whose trust root cannot be reached', async () => {
      const token = await cloudToken({ iss: DOWN });
      expect(await refusalOf(bearer(token))).toMatchObject(unverified);
    });
  },
);

describe(covers('auth.workload.verification-order'), () => {
  test('the first check that fails decides: proof, binding, audience, resolution', async () => {
    const wrong = { aud: ['https://other.example.com'], sub: 'spiffe://acme.example/nobody' };
    const [, forged, token] = [0, await stranger.sign(wrong, { kid: 'spire' }), await svid(wrong)];
    const codes = [
      await refusalOf(bearer(forged), callStrict),
      await refusalOf(bearer(token), callStrict),
      await refusalOf(bearer(token)),
      await refusalOf(bearer(await svid({ ...wrong, aud: [BASE] }))),
    ].map(({ code }) => code);
    expect(codes).toEqual([
      'identity_unverified',
      'sender_constraint_missing',
      'audience_mismatch',
      'identity_unresolvable',
    ]);
  });
});

describe(covers('auth.workload.not-from-header-or-body'), () => {
  test.each([
    { 'x-spiffe-id': AGENT },
    { 'x-forwarded-client-cert': `URI=${AGENT}` },
    { 'x-forwarded-user': 'p_agent' },
    { 'svc-workload-identity': JSON.stringify({ scheme: 'spiffe', subject: AGENT }) },
  ])('no identity is taken from the headers %j', async (headers) => {
    expect(await refusalOf(headers)).toMatchObject({ status: 401, code: 'unauthenticated' });
    // Beside a credential they change nothing.
    const { run } = await endedRun({ ...headers, ...bearer(KEY) });
    expect(run.owner.principal).toBe('p_key');
  });

  test.each(['owner', 'principal', 'workloadIdentity', 'onBehalfOf', 'actor'])(
    'a body with %s is rejected',
    async (member) => {
      const body = { ...newRun, [member]: { principalId: 'p_agent', kind: 'agent' } };
      for (const [path, major] of [
        ['/v1/runs', '1'],
        ['/runs', '2'],
      ] as const) {
        const headers = { ...bearer(KEY), 'svc-version': major };
        const { status, text } = await call(path, { headers, body });
        expect([status, text]).toEqual([400, expect.stringContaining(member)]);
      }
    },
  );
});

describe(covers('auth.workload.trusted-terminator'), () => {
  /** Reads a run that does not exist, from an address of this machine. */
  function from(localAddress: string, xfcc: string): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const headers = { 'x-forwarded-client-cert': xfcc };
      get(`${host.url}/v1/runs/run_1`, { localAddress, headers, agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      }).on('error', reject);
    });
  }
  const forwarded = (leaf: Issued, others = '') => `Cert="${encodeURIComponent(leaf.pem)}"${others}`;

  test('a certificate counts from the configured address alone', async () => {
    expect(await from('127.0.0.1', forwarded(certificate))).toBe(404);
    expect(await from('127.0.0.2', forwarded(certificate))).toBe(401);
  });

  test('the fields beside the certificate are no identity', async () => {
    const idle = await issue('stranger', { uris: ['spiffe://acme.example/nobody'] }, root);
    expect(await from('127.0.0.1', forwarded(idle, `;URI=${AGENT}`))).toBe(401);
    expect(await from('127.0.0.1', `URI=${AGENT}`)).toBe(401);
    const selfSigned = await issue('agent', { uris: [AGENT] });
    expect(await from('127.0.0.1', forwarded(selfSigned))).toBe(401);
  });
});

describe(
  covers(
    'auth.workload.constraint-missing',
    'auth.workload.high-value-bound',
    'auth.workload.bearer-fallback-explicit',
    'auth.workload.bearer-no-binding-claim',
    'auth.workload.audit-tells-binding',
  ),
  () => {
    const boundToken = () => svid({ cnf: { jkt: device.thumbprint } });
    async function proven(): Promise<Record<string, string>> {
      const token = await boundToken();
      return { authorization: `DPoP ${token}`, dpop: await device.proof('POST', '/v1/runs', token) };
    }

    test('a host that lists a constraint refuses an identity without it', async () => {
      expect((await callStrict('/.well-known/svc')).body.auth.workloadIdentity.senderConstraint).toEqual(['dpop']);
      const refused = await refusalOf(bearer(await svid()), callStrict);
      expect(refused).toMatchObject({ status: 401, code: 'sender_constraint_missing', retryAfter: null });
      expect((await callStrict('/v1/runs', { headers: await proven(), body: newRun })).status).toBe(201);
    });

    test('a host that lists none accepts a bearer token, and no bound token without its proof', async () => {
      expect((await call('/.well-known/svc')).body.auth.workloadIdentity.senderConstraint).toEqual([]);
      expect((await create(bearer(await svid()))).status).toBe(201);
      expect((await create(bearer(await boundToken()))).status).toBe(401);
      expect((await create({ authorization: `DPoP ${await boundToken()}` })).status).toBe(401);
    });

    test('the decision of each request tells a bearer token from a bound one', async () => {
      const created = [await create(bearer(await svid())), await create(await proven())];
      const bindings = await Promise.all(created.map(async ({ body }) => (await decisionOf(body.runId)).reason));
      expect(bindings).toEqual([
        'role_granted actor=p_agent depth=0 issuer=spiffe audience=match binding=bearer',
        'role_granted actor=p_agent depth=0 issuer=spiffe audience=match binding=dpop',
      ]);
    });
  },
);

/** Reads `authorization.decided` of the log of a run. */
async function decisionOf(runId: string) {
  const headers = bearer(KEY);
  let events: { readonly type: string; readonly payload: Record<string, unknown> }[] = [];
  await eventually(async () => {
    const { body } = await call(`/v1/runs/${runId}/events/poll`, { headers });
    ({ events } = body);
    return body.isComplete;
  });
  return events.find(({ type }) => type === 'authorization.decided')?.payload ?? {};
}

interface Hop {
  readonly to: string;
  readonly scope?: string | undefined;
  readonly changes?: object;
  readonly by?: Signer;
  readonly header?: object;
}

/** Makes nested proofs, from the first delegate to the last. */
async function proofOf(delegator: string, hops: readonly Hop[]): Promise<string> {
  let before: string | undefined;
  let act: object | undefined;
  for (const { to, scope = 'runs:read', changes = {}, by = sts, header = {} } of hops) {
    act = { sub: to, iss: 'spiffe://acme.example', ...(act && { act }) };
    const link = { iss: STS, sub: delegator, aud: BASE, scope, act, ...(before && { prf: before }), ...changes };
    before = await by.sign(link, { typ: 'delegation+jwt', ...header });
  }
  return before ?? '';
}

/** The headers of `AGENT`, with a proof. */
async function delegated(proof: string): Promise<Record<string, string>> {
  return { ...bearer(await svid()), 'svc-delegation': proof };
}

const BOTH = 'runs:create runs:read';
const toAgent = (scope = BOTH, changes: object = {}): readonly Hop[] => [{ to: AGENT, scope, changes }];

describe(
  covers(
    'auth.delegation.every-hop-verified',
    'auth.delegation.actor-and-principal',
    'auth.delegation.on-behalf-of-verified',
    'runs.subject.actor-not-self-asserted',
  ),
  () => {
    test('a run of a delegation is owned by the delegator, with the caller as its actor', async () => {
      const { run } = await endedRun(await delegated(await proofOf('user-1', toAgent())));
      expect(run.owner).toMatchObject({
        principal: 'p_user',
        principalKind: 'user',
        subject: { subjectId: 'p_user', kind: 'user', actor: { subjectId: 'p_agent', kind: 'agent' } },
      });
      expect(run.owner.subject.actor).not.toHaveProperty('actor');
    });

    test.each<[string, () => Promise<string>]>([
      ['a hop of a stranger', () => proofOf('user-1', [{ to: AGENT, by: stranger }])],
      ['a first hop of a stranger', () => proofOf('user-1', [{ to: SECOND, by: stranger }, { to: AGENT }])],
      ['a proof of another type', () => proofOf('user-1', [{ to: AGENT, header: { typ: 'JWT' } }])],
      ['a proof for another caller', () => proofOf('user-1', [{ to: SECOND }])],
      [
        'an actor that no proof bears out',
        () =>
          proofOf('user-1', toAgent(BOTH, { act: { sub: AGENT, iss: 'spiffe://acme.example', act: { sub: SECOND } } })),
      ],
      [
        'another delegator inside',
        () => proofOf('user-1', [{ to: SECOND }, { to: AGENT, changes: { sub: 'user-idle' } }]),
      ],
      ['no token', async () => 'p_user'],
      ['nothing', async () => ''],
    ])('a proof is refused: %s', async (_name, proof) => {
      expect(await refusalOf(await delegated(await proof()))).toMatchObject(unverified);
    });

    test('a proof beside a credential that no delegation names is refused', async () => {
      const headers = { ...bearer(KEY), 'svc-delegation': await proofOf('user-1', toAgent()) };
      expect(await refusalOf(headers)).toMatchObject(unverified);
    });
  },
);

describe(
  covers(
    'auth.delegation.required-fields',
    'auth.delegation.hop-shape',
    'auth.delegation.unknown-issuer',
    'auth.delegation.foreign-audience',
    'auth.delegation.expired',
    'auth.delegation.expires-at-date-time',
    'auth.delegation.no-expiry',
    'errors.code.identity-401',
  ),
  () => {
    const act = (changes: object) => ({ act: { sub: AGENT, iss: 'spiffe://acme.example', ...changes } });
    const elsewhere = { status: 401, code: 'audience_mismatch', retryAfter: null };
    const expired = { status: 401, code: 'delegation_expired', retryAfter: null };

    test.each<[string, readonly Hop[], object]>([
      ['without a delegate', toAgent(BOTH, { act: undefined }), unverified],
      ['with a delegate without a subject', toAgent(BOTH, act({ sub: undefined })), unverified],
      ['with a delegate with an empty subject', toAgent(BOTH, act({ sub: '' })), unverified],
      ['with a delegate with an empty issuer', toAgent(BOTH, act({ iss: '' })), unverified],
      ['without scopes', toAgent(BOTH, { scope: undefined }), unverified],
      ['with scopes as a list', toAgent(BOTH, { scope: ['runs:read'] }), unverified],
      ['with a scope twice', toAgent('runs:read runs:read'), unverified],
      ['with an empty scope', toAgent('runs:read  runs:create'), unverified],
      ['of an unknown issuer', toAgent(BOTH, { iss: 'https://evil.example' }), unverified],
      ['without an audience', toAgent(BOTH, { aud: undefined }), elsewhere],
      ['with an empty audience', toAgent(BOTH, { aud: '' }), elsewhere],
      ['for another host', toAgent(BOTH, { aud: 'https://other.example.com' }), elsewhere],
      ['for two hosts', toAgent(BOTH, { aud: [BASE, 'https://other.example.com'] }), elsewhere],
      ['that has expired', toAgent(BOTH, { exp: seconds() - 1 }), expired],
      [
        'with an earlier hop that has expired',
        [{ to: SECOND, changes: { exp: seconds() - 1 } }, { to: AGENT }],
        expired,
      ],
      ['with an impossible date for its expiry', toAgent(BOTH, { exp: '2030-02-30T00:00:00Z' }), expired],
      ['with a text for its expiry', toAgent(BOTH, { exp: String(seconds() + 100) }), expired],
      ['without an expiry', toAgent(BOTH, { exp: undefined }), expired],
    ])('a delegation is refused: %s', async (_name, hops, refusal) => {
      expect(await refusalOf(await delegated(await proofOf('user-1', hops)))).toMatchObject(refusal);
    });
  },
);

describe(covers('auth.delegation.too-long', 'auth.delegation.cyclic', 'errors.code.chain-400'), () => {
  const through = (...to: readonly string[]) => to.map((each): Hop => ({ to: each, scope: BOTH }));

  test.each<[string, string, readonly Hop[], string]>([
    ['six hops', 'user-1', through(SECOND, THIRD, FOURTH, FIFTH, SIXTH, AGENT), 'delegation_chain_too_long'],
    ['a delegate twice', 'user-1', through(AGENT, SECOND, AGENT), 'delegation_chain_cyclic'],
    ['the delegator as delegate', AGENT, through(SECOND, AGENT), 'delegation_chain_cyclic'],
    ['a delegation to oneself', AGENT, through(AGENT), 'delegation_chain_cyclic'],
  ])('%s: %s', async (_name, delegator, hops, code) => {
    expect((await call('/.well-known/svc')).body.auth.workloadIdentity.delegation).toEqual({ maxChainDepth: 5 });
    const refused = await refusalOf(await delegated(await proofOf(delegator, hops)));
    expect(refused).toMatchObject({ status: 400, code, retryAfter: null });
  });

  test(`${covers('runs.subject.actor-depth')} five hops create no run, and four hops do`, async () => {
    const five = await delegated(await proofOf('user-1', through(SECOND, THIRD, FOURTH, FIFTH, AGENT)));
    expect(await refusalOf(five)).toMatchObject({ status: 403, code: 'run_forbidden' });
    const { run } = await endedRun(await delegated(await proofOf('user-1', through(SECOND, THIRD, FOURTH, AGENT))));
    const actors: string[] = [];
    for (let { actor } = run.owner.subject; actor !== undefined; { actor } = actor) actors.push(actor.subjectId);
    expect([actors.length, actors[0]]).toEqual([4, 'p_agent']);
  });
});

describe(covers('auth.delegation.amplified', 'errors.code.amplified-403'), () => {
  test.each<[string, readonly Hop[]]>([
    [
      'a hop with more than the one before',
      [
        { to: SECOND, scope: 'runs:read' },
        { to: AGENT, scope: BOTH },
      ],
    ],
    ['a hop with more than the delegator', toAgent('runs:read runs:cancel')],
    ['a wildcard where the delegator has none', toAgent('runs:*')],
    [
      'a wider wildcard',
      [
        { to: SECOND, scope: 'runs:read' },
        { to: AGENT, scope: '*:read' },
      ],
    ],
  ])('%s', async (_name, hops) => {
    const refused = await refusalOf(await delegated(await proofOf('user-1', hops)));
    expect(refused).toMatchObject({ status: 403, code: 'delegation_scope_amplified', retryAfter: null });
  });
});

describe(
  covers(
    'auth.delegation.grants-nothing',
    'auth.delegation.hop-scopes-not-authorization',
    'auth.delegation.authorized-as-direct',
    'runs.subject.actor-provenance-only',
  ),
  () => {
    const cancelled = (headers: Record<string, string>): Sending => ({ headers, body: {} });

    test('a scope of the caller that was not delegated is missing', async () => {
      const own = bearer(await svid());
      const { path } = await endedRun(own);
      const reading = await delegated(await proofOf('user-1', toAgent('runs:read')));
      expect((await call(path, { headers: reading })).status).toBe(200);
      expect((await call(`${path}/cancel`, cancelled(reading))).body).toMatchObject({ scopeRequired: 'runs:cancel' });
      expect(await refusalOf(reading)).toMatchObject({ status: 403, code: 'forbidden' });
      expect((await call(`${path}/cancel`, cancelled(own))).status).toBe(200);
    });

    test('a delegation without scopes allows nothing', async () => {
      const headers = await delegated(await proofOf('user-1', toAgent('')));
      expect(await call('/v1/runs/run_1', { headers })).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    });

    test('a delegator without a role is denied, although the caller has one', async () => {
      const headers = await delegated(await proofOf('user-idle', toAgent()));
      expect(await refusalOf(headers)).toMatchObject({ status: 403, code: 'forbidden' });
      // Directly it is denied in the same way.
      const idle = await refusalOf(bearer(await svid({ sub: IDLE })));
      expect(idle).toMatchObject({ status: 403, code: 'forbidden' });
    });
  },
);

describe(covers('auth.delegation.tenant-disagreement'), () => {
  test('the refusal is the same for an existing and for an unknown tenant', async () => {
    const refusals = [
      await refusalOf(await delegated(await proofOf('user-globex', toAgent()))),
      await refusalOf(await delegated(await proofOf('user-nobody', toAgent()))),
      await refusalOf(await delegated(await proofOf('user-1', toAgent(BOTH, { svc_tenant: 'globex' })))),
      await refusalOf(await delegated(await proofOf('user-1', toAgent(BOTH, { svc_tenant: 'no-such-tenant' })))),
    ];
    expect(refusals[0]).toMatchObject({ status: 401, code: 'identity_unresolvable' });
    for (const refusal of refusals) expect(refusal).toEqual(refusals[0]);
    const same = await delegated(await proofOf('user-1', toAgent(BOTH, { svc_tenant: 'acme' })));
    expect((await create(same)).status).toBe(201);
  });
});

describe(covers('runs.subject.distinct-by-issuer', 'runs.subject.workload-kind'), () => {
  test('one subject of two issuers is two subjects', async () => {
    const one = await endedRun(bearer(await cloudToken()));
    const other = await endedRun(bearer(await cloudToken({ iss: OTHER_CLOUD }, otherCloud)));
    expect([one, other].map(({ run }) => [run.owner.principal, run.owner.subject.issuer])).toEqual([
      ['p_one', CLOUD],
      ['p_other', OTHER_CLOUD],
    ]);
  });

  test('a workload has the kind workload, and no principalKind', async () => {
    const { run } = await endedRun(bearer(await cloudToken()));
    expect(run.owner).not.toHaveProperty('principalKind');
    expect(run.owner.subject.kind).toBe('workload');
  });
});

describe(
  covers(
    'auth.audit.decision-recordable',
    'auth.audit.decision-carrier',
    'auth.audit.decision-content-free',
    'auth.audit.reason-closed',
    'auth.audit.base-fields',
  ),
  () => {
    const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traced = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };

    test('an allowed decision is an event of the run', async () => {
      const chain = [
        { to: SECOND, scope: BOTH },
        { to: AGENT, scope: BOTH },
      ];
      const { run } = await endedRun(await delegated(await proofOf('user-1', chain)));
      expect(await decisionOf(run.runId)).toEqual({
        principal: 'p_user',
        action: 'createRun',
        resource: 'createRun',
        allowed: true,
        reason: 'role_granted actor=p_agent depth=2 issuer=spiffe audience=match binding=bearer',
      });
    });

    test('a denied decision is in the log and in the audit log, with the trace of its request', async () => {
      const headers = { ...(await delegated(await proofOf('user-idle', toAgent()))), ...traced };
      expect((await create(headers)).status).toBe(403);
      const decision = {
        principal: 'p_user_idle',
        action: 'createRun',
        resource: 'createRun',
        allowed: false,
        reason: 'forbidden actor=p_agent depth=1 issuer=spiffe audience=match binding=bearer',
        traceId: TRACE,
      };
      await eventually(() => logged('authorization.decided').some(({ traceId }) => traceId === TRACE));
      expect(logged('authorization.decided')).toContainEqual(expect.objectContaining(decision));
      const { allowed, reason } = decision;
      await eventually(() => entries().some(({ details }) => details.traceId === TRACE));
      expect(entries()).toContainEqual({
        actor: 'p_user_idle',
        details: expect.objectContaining({ allowed, reason, traceId: TRACE, operation: 'createRun', status: 403 }),
      });
    });

    test('every entry has tenant, mode, credential, lane and binding, and no raw claim', () => {
      const all = entries();
      expect(all.length).toBeGreaterThan(10);
      for (const { details } of all) {
        expect(details).toMatchObject({
          tenant: 'acme',
          mode: 'live',
          credential: expect.stringMatching(/^[\w.:-]+$/),
          lane: expect.stringMatching(/^(api-key|workload)$/),
          binding: expect.stringMatching(/^(bearer|dpop|mtls)$/),
        });
      }
      const kept = JSON.stringify([all, logged('authorization.decided'), logged('request')]);
      expect(kept).not.toMatch(/spiffe:\/\/|https?:\/\/|user-1|user-idle|eyJ/);
    });
  },
);

function logged(event: string): Record<string, unknown>[] {
  return host.stderr.map((line) => JSON.parse(line)).filter((record) => record.event === event);
}

/** Reads the audit entries about callers. */
function entries() {
  const database = new DatabaseSync(folder.path('host.db'), { timeout: 10_000, readOnly: true });
  try {
    const rows = database.prepare('SELECT actor, details FROM audit_entries ORDER BY at_sequence').all();
    return rows
      .map(({ actor, details }) => ({ actor, details: JSON.parse(String(details)) }))
      .filter(({ actor }) => String(actor).startsWith('p_'));
  } finally {
    database.close();
  }
}
