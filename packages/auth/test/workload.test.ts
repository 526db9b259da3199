import { createHash } from 'node:crypto';
import { authenticator, authorizationDecided, authorize, type RequestHead, refusal } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { localKeys } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import {
  bundleKeys,
  cloudSubject,
  jwtSvid,
  oauthClient,
  type PresentedIdentity,
  type WorkloadBinding,
  type WorkloadLaneOptions,
  workloadLane,
} from '@svc/auth/workload';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ProofMaker, proofMaker } from './proofs.ts';
import { keySetOf, type Signer, signer } from './tokens.ts';

const NOW = Date.UTC(2026, 5, 1);
const SECONDS = NOW / 1000;
const HOST = 'https://svc.example.com';
const CLOUD = 'https://token.cloud.example';
const OAUTH = 'https://auth.example.com';
const STS = 'https://sts.example.com';
const AGENT = 'spiffe://acme.example/agent';
const KEY = 'operator-key-of-this-test-0123456789';

let spire: Signer;
let otherDomain: Signer;
let cloud: Signer;
let oauth: Signer;
let sts: Signer;
let client: ProofMaker;

beforeAll(async () => {
  [spire, otherDomain, cloud, oauth, sts] = (await Promise.all(
    ['spire', 'other', 'cloud', 'oauth', 'sts'].map((id) => signer('ES256', id)),
  )) as [Signer, Signer, Signer, Signer, Signer];
  client = await proofMaker();
});

const times = { iat: SECONDS - 10, exp: SECONDS + 300 };
const svid = (changes: object = {}, header: object = {}) =>
  spire.sign({ sub: AGENT, aud: [HOST], ...times, ...changes }, header);

const BINDINGS: Readonly<Record<string, WorkloadBinding>> = {
  [AGENT]: binding('p_agent', { principalKind: 'agent' }),
  'spiffe://acme.example/second': binding('p_second'),
  'spiffe://acme.example/third': binding('p_third'),
  'repo:acme/deploy:ref:refs/heads/main': binding('p_deploy'),
  'client-1': binding('p_client'),
  'user-1': binding('p_user', { principalKind: 'user', scopes: ['runs:read', 'runs:cancel'] }),
  'user-globex': binding('p_elsewhere', { tenant: 'globex' }),
  'user-test': binding('p_tester', { mode: 'test' }),
};

function binding(principal: string, changes: Partial<WorkloadBinding> = {}): WorkloadBinding {
  return { principal, tenant: 'acme', workspaces: ['acme-prod'], scopes: ['runs:*'], mode: 'live', ...changes };
}

function auth(changes: Partial<WorkloadLaneOptions> = {}) {
  const now = () => NOW;
  const record = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all', principal: 'p_1' } as const;
  return authenticator({
    lanes: [
      workloadLane({
        schemes: [
          jwtSvid({
            trustDomains: [
              { name: 'acme.example', keys: localKeys(keySetOf(spire)) },
              { name: 'other.example', keys: localKeys(keySetOf(otherDomain)) },
            ],
          }),
          cloudSubject({ issuers: [{ issuer: CLOUD, keys: localKeys(keySetOf(cloud)) }], now }),
          oauthClient({ issuers: [{ issuer: OAUTH, keys: localKeys(keySetOf(oauth)) }], now }),
        ],
        audience: HOST,
        resolve: ({ subject }) => BINDINGS[subject],
        dpop: dpopVerifier({ origin: HOST, replays: memoryReplayStore({ now }), now }),
        delegation: {
          maxChainDepth: 3,
          issuers: [{ issuer: STS, keys: localKeys(keySetOf(sts)) }],
          audience: HOST,
        },
        now,
        ...changes,
      }),
      apiKeyLane({ keys: memoryKeyStore([{ ...record, scopes: ['runs:read'], mode: 'live' }]), now }),
    ],
  });
}

const bearing = (token: string, headers: Record<string, string> = {}): RequestHead => ({
  method: 'GET',
  url: '/v1/runs/1',
  headers: { authorization: `Bearer ${token}`, ...headers },
});

async function refusedWith(code: string, request: RequestHead, changes: Partial<WorkloadLaneOptions> = {}) {
  const outcome = await auth(changes).authenticate(request);
  expect(outcome).toMatchObject({ kind: 'refused', error: { code } });
  return outcome.kind === 'refused' ? refusal(outcome.error) : undefined;
}

describe(covers('auth.workload.cryptographic-verification', 'auth.workload.resolved-before-authorization'), () => {
  test.each([
    ['spiffe', () => svid(), 'p_agent'],
    ['spiffe, with typ JWT and no iat', () => svid({ iat: undefined }, { typ: 'JWT' }), 'p_agent'],
    [
      'cloud-subject',
      () => cloud.sign({ iss: CLOUD, sub: 'repo:acme/deploy:ref:refs/heads/main', aud: HOST, ...times }),
      'p_deploy',
    ],
    [
      'oauth-client',
      () => oauth.sign({ iss: OAUTH, sub: 'x', client_id: 'client-1', aud: HOST, ...times }, { typ: 'at+jwt' }),
      'p_client',
    ],
  ])('authenticates an identity of the scheme %s as the resolved principal', async (_name, token, principal) => {
    const outcome = await auth().authenticate(bearing(await token()));
    expect(outcome).toMatchObject({
      kind: 'authenticated',
      principal: {
        id: principal,
        lane: 'workload',
        binding: 'bearer',
        tenancy: { tenant: 'acme', workspaces: ['acme-prod'], mode: 'live' },
        scopes: ['runs:*'],
        workload: { depth: 0, audience: 'match', onBehalfOf: undefined, actor: { principalId: principal } },
      },
    });
  });

  test('takes the keys of a bundle as SPIRE writes it, and of no other use', async () => {
    const svidKey = { ...spire.publicJwk, use: 'jwt-svid', alg: undefined };
    const authority = { ...spire.publicJwk, alg: undefined, use: 'x509-svid', x5c: ['AAAA'] };
    const bundle = { keys: [authority, svidKey], spiffe_sequence: 1, spiffe_refresh_hint: 300 };
    const schemes = [jwtSvid({ trustDomains: [{ name: 'acme.example', keys: bundleKeys(bundle) }] })];
    const token = await svid({ iat: undefined }, { typ: 'JWT' });
    expect(await auth({ schemes }).authenticate(bearing(token))).toMatchObject({ kind: 'authenticated' });
    expect(() => bundleKeys({ keys: [authority] })).toThrow(TypeError);
    for (const use of [undefined, 'sig', 'enc', 'JWT-SVID', ['jwt-svid'], null]) {
      expect(() => bundleKeys({ keys: [{ ...svidKey, use }, authority] }), String(use)).toThrow(/use is jwt-svid/);
    }
    // Keys of an issuer of access tokens are not those of a trust domain.
    expect(() => localKeys({ keys: [svidKey] })).toThrow(TypeError);
  });

  test('passes the verified identity to the resolver', async () => {
    const asked: PresentedIdentity[] = [];
    const resolve = (identity: PresentedIdentity) => {
      asked.push(identity);
      return BINDINGS[identity.subject];
    };
    await auth({ resolve }).authenticate(bearing(await svid({ iss: 'https://evil.example' })));
    await auth({ resolve }).authenticate(
      bearing(await cloud.sign({ iss: CLOUD, sub: 's', aud: HOST, ...times }, { kid: 'x' })),
    );
    expect(asked).toEqual([{ scheme: 'spiffe', issuer: 'spiffe://acme.example', subject: AGENT }]);
  });
});

describe(covers('auth.workload.unverified', 'errors.code.identity-401', 'errors.code.identity-not-retriable'), () => {
  test.each([
    ['signed by a stranger', async () => (await signer('ES256', 'spire')).sign({ sub: AGENT, aud: [HOST], ...times })],
    ['signed by another trust domain', () => otherDomain.sign({ sub: AGENT, aud: [HOST], ...times })],
    ['of a trust domain that is not trusted', () => svid({ sub: 'spiffe://evil.example/agent' })],
    ['of the trust domain itself', () => svid({ sub: 'spiffe://acme.example' })],
    ['with dot segments', () => svid({ sub: 'spiffe://acme.example/x/../agent' })],
    ['with a trailing slash', () => svid({ sub: 'spiffe://acme.example/agent/' })],
    ['with a query', () => svid({ sub: 'spiffe://acme.example/agent?x' })],
    ['with a port', () => svid({ sub: 'spiffe://acme.example:443/agent' })],
    ['with percent-encoding', () => svid({ sub: 'spiffe://acme.example/%61gent' })],
    ['in capitals', () => svid({ sub: 'spiffe://ACME.example/agent' })],
    ['expired', () => svid({ iat: SECONDS - 900, exp: SECONDS - 61 })],
    ['without exp', () => svid({ exp: undefined })],
    ['that lives too long', () => svid({ exp: SECONDS + 86_400 })],
    ['of a type that is none', () => svid({}, { typ: 'at+jwt' })],
    [
      'with an algorithm that JWT-SVIDs do not have',
      async () => {
        const ed = await signer('EdDSA', 'spire');
        return ed.sign({ sub: AGENT, aud: [HOST], ...times });
      },
    ],
    [
      'of a cloud, as an access token',
      () => cloud.sign({ iss: CLOUD, sub: 's', aud: HOST, ...times }, { typ: 'at+jwt' }),
    ],
    ['of a client, as a plain token', () => oauth.sign({ iss: OAUTH, client_id: 'client-1', aud: HOST, ...times })],
    [
      'of a client, without client_id',
      () => oauth.sign({ iss: OAUTH, sub: 'client-1', aud: HOST, ...times }, { typ: 'at+jwt' }),
    ],
    [
      'of one issuer, signed by another',
      () => cloud.sign({ iss: OAUTH, client_id: 'client-1', aud: HOST, ...times }, { typ: 'at+jwt' }),
    ],
  ])('refuses an identity: %s', async (_name, token) => {
    const answer = await refusedWith('identity_unverified', bearing(await token()));
    expect(answer?.status).toBe(401);
    expect(answer?.headers).not.toHaveProperty('retry-after');
    expect(JSON.stringify(answer)).not.toMatch(/acme|agent|spiffe:/);
  });
});

describe(covers('auth.workload.scheme-advertised'), () => {
  test('refuses an identity of a scheme that is not configured, and asks no other lane', async () => {
    const now = () => NOW;
    const schemes = [cloudSubject({ issuers: [{ issuer: CLOUD, keys: localKeys(keySetOf(cloud)) }], now })];
    await refusedWith('identity_unverified', bearing(await svid()), { schemes });
  });
});

describe(covers('auth.workload.audience-own'), () => {
  test.each([[['https://other.example.com']], [[`${HOST}/`]], ['svc']])('refuses the audience %j', async (aud) => {
    await refusedWith('audience_mismatch', bearing(await svid({ aud })));
  });
  test('refuses an identity without an audience', async () => {
    await refusedWith('audience_mismatch', bearing(await svid({ aud: undefined })));
  });
});

describe(covers('auth.workload.unresolvable', 'auth.workload.infrastructure-error-refuses'), () => {
  const failing: Record<string, WorkloadLaneOptions['resolve']> = {
    'returns undefined': () => undefined,
    'resolves to undefined': async () => undefined,
    throws: () => {
      throw new Error('the directory is down');
    },
    rejects: async () => Promise.reject(new Error('the directory is down')),
    'never answers': () => new Promise(() => {}),
    'returns personal data': () => binding('ada@example.com'),
    'returns a malformed binding': () => 'p_agent' as never,
    'returns no scopes': () => ({ ...binding('p_agent'), scopes: undefined }) as never,
    'returns scopes as one text': () => ({ ...binding('p_agent'), scopes: 'runs:read' }) as never,
    'returns a malformed scope': () => ({ ...binding('p_agent'), scopes: ['runs read'] }),
    'returns no workspaces': () => ({ ...binding('p_agent'), workspaces: [] }),
    'returns workspaces as a text': () => ({ ...binding('p_agent'), workspaces: 'acme-prod' }) as never,
    'returns a wildcard among workspaces': () => ({ ...binding('p_agent'), workspaces: ['*'] }),
    'returns no mode': () => ({ ...binding('p_agent'), mode: undefined }) as never,
    'returns another mode': () => ({ ...binding('p_agent'), mode: 'admin' }) as never,
    'returns the kind anonymous': () => ({ ...binding('p_agent'), principalKind: 'anonymous' }) as never,
  };
  test.each(Object.entries(failing))('refuses when the resolver %s', async (_name, resolve) => {
    const answer = await refusedWith('identity_unresolvable', bearing(await svid()), { resolve, resolveTimeoutMs: 20 });
    expect(JSON.stringify(answer)).not.toContain('directory');
  });

  test('refuses when a trust root is unreachable', async () => {
    const keys = { find: () => Promise.reject(new Error('unreachable')) };
    const schemes = [jwtSvid({ trustDomains: [{ name: 'acme.example', keys }] })];
    await refusedWith('identity_unverified', bearing(await svid()), { schemes });
  });
});

describe(covers('auth.workload.verification-order'), () => {
  /** Fails every check. Each repair shows the next check. */
  test('scheme, proof, binding, audience, resolution', async () => {
    const wrong = { aud: ['https://other.example.com'], sub: 'spiffe://acme.example/nobody' };
    const constrained: Partial<WorkloadLaneOptions> = { senderConstraint: ['dpop'] };
    await refusedWith('identity_unverified', bearing(await otherDomain.sign({ ...times, ...wrong })), constrained);
    await refusedWith('sender_constraint_missing', bearing(await svid(wrong)), constrained);
    await refusedWith('audience_mismatch', bearing(await svid(wrong)));
    await refusedWith('identity_unresolvable', bearing(await svid({ ...wrong, aud: [HOST] })));
  });
});

describe(
  covers('auth.workload.constraint-missing', 'auth.workload.high-value-bound', 'auth.workload.bearer-no-binding-claim'),
  () => {
    async function bound(options: { proof?: boolean } = {}): Promise<RequestHead> {
      const token = await svid({ cnf: { jkt: client.thumbprint } });
      const proof = await client.proof({ htm: 'GET', htu: `${HOST}/v1/runs/1`, token, iat: SECONDS });
      const headers = { authorization: `DPoP ${token}`, ...(options.proof !== false && { dpop: proof }) };
      return { method: 'GET', url: '/v1/runs/1', headers };
    }

    test('refuses an unbound token when a constraint is advertised', async () => {
      const answer = await refusedWith('sender_constraint_missing', bearing(await svid()), {
        senderConstraint: ['dpop'],
      });
      expect(answer?.status).toBe(401);
    });

    test('does not accept one constraint in place of another', async () => {
      await refusedWith('sender_constraint_missing', await bound(), { senderConstraint: ['mtls'] });
    });

    test('accepts a bound token with its proof, and records the digest of the key', async () => {
      const outcome = await auth({ senderConstraint: ['dpop'] }).authenticate(await bound());
      const hex = Buffer.from(client.thumbprint, 'base64url').toString('hex');
      expect(outcome).toMatchObject({
        principal: {
          binding: 'dpop',
          workload: { identity: { keyBinding: { method: 'dpop', thumbprintRef: `sha256:${hex}` } } },
        },
      });
    });

    test('refuses a bound token without its proof, even when bearer tokens are accepted', async () => {
      await refusedWith('unauthenticated', await bound({ proof: false }));
    });
  },
);

describe(covers('auth.workload.bearer-fallback-explicit', 'auth.workload.audit-tells-binding'), () => {
  test('accepts and records bearer tokens when no constraint is advertised', async () => {
    const outcome = await auth({ senderConstraint: [] }).authenticate(bearing(await svid()));
    if (outcome.kind !== 'authenticated') throw new Error('refused');
    expect(outcome.principal.binding).toBe('bearer');
    expect(outcome.principal.workload?.identity).not.toHaveProperty('keyBinding');
    const decision = authorize(outcome.principal, 'runs:read');
    const fact = authorizationDecided(outcome.principal, { action: 'runs.read', resource: 'run_1' }, decision);
    expect(fact.reason).toContain('binding=bearer');
  });
});

describe(covers('auth.workload.not-from-header-or-body'), () => {
  test.each([
    { 'x-spiffe-id': AGENT },
    { 'x-forwarded-client-cert': `URI=${AGENT}` },
    { 'x-forwarded-user': 'p_agent' },
    { 'svc-workload-identity': JSON.stringify({ scheme: 'spiffe', subject: AGENT }) },
  ])('takes no identity from the headers %j', async (headers) => {
    await refusedWith('unauthenticated', { method: 'GET', url: '/v1/runs/1', headers: headers as never });
  });
});

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
    act = {
      sub: to,
      iss: to.startsWith('spiffe://') ? `spiffe://${to.split('/')[2]}` : undefined,
      ...(act && { act }),
    };
    const link: object = {
      iss: STS,
      sub: delegator,
      aud: HOST,
      ...times,
      scope,
      act,
      ...(before && { prf: before }),
      ...changes,
    };
    before = await by.sign(link, { typ: 'delegation+jwt', ...header });
  }
  return before ?? '';
}

async function delegated(proof: string | Promise<string>, caller: string = AGENT): Promise<RequestHead> {
  return bearing(await svid({ sub: caller }), { 'svc-delegation': await proof });
}

const [SECOND, THIRD] = ['spiffe://acme.example/second', 'spiffe://acme.example/third'];

describe(covers('auth.delegation.every-hop-verified', 'auth.delegation.actor-and-principal'), () => {
  test('makes the delegator the principal and the caller its actor', async () => {
    const proof = await proofOf('user-1', [{ to: AGENT }]);
    const outcome = await auth().authenticate(await delegated(proof));
    expect(outcome).toMatchObject({
      kind: 'authenticated',
      principal: {
        id: 'p_user',
        kind: 'user',
        scopes: ['runs:read'],
        expiresAt: (SECONDS + 300) * 1000,
        subject: { subjectId: 'p_user', actor: { subjectId: 'p_agent', issuer: 'spiffe://acme.example' } },
        workload: {
          actor: { principalId: 'p_agent', kind: 'agent' },
          onBehalfOf: { principalId: 'p_user', kind: 'user' },
          depth: 1,
          identity: {
            delegation: {
              chain: [{ subject: AGENT, issuer: 'spiffe://acme.example', scopes: ['runs:read'] }],
              audience: HOST,
              expiresAt: new Date((SECONDS + 300) * 1000).toISOString(),
              proofRef: `sha256:${createHash('sha256').update(proof).digest('hex')}`,
            },
          },
        },
      },
    });
    expect(JSON.stringify(outcome)).not.toContain(proof.slice(0, 30));
  });

  test('accepts a chain of three narrowing hops', async () => {
    const proof = proofOf('user-1', [
      { to: SECOND, scope: 'runs:read runs:cancel' },
      { to: THIRD, scope: 'runs:read runs:cancel' },
      { to: AGENT, scope: 'runs:cancel' },
    ]);
    const outcome = await auth().authenticate(await delegated(proof));
    expect(outcome).toMatchObject({
      principal: {
        scopes: ['runs:cancel'],
        workload: { depth: 3 },
        subject: { actor: { subjectId: 'p_agent', actor: { actor: { subjectId: expect.stringMatching(/^w_/) } } } },
      },
    });
  });

  test.each<[string, () => Promise<RequestHead>]>([
    [
      'a hop of a stranger',
      async () => delegated(proofOf('user-1', [{ to: AGENT, by: await signer('ES256', 'sts') }])),
    ],
    [
      'a first hop of a stranger behind a good one',
      async () => {
        const stranger = await signer('ES256', 'sts');
        return delegated(proofOf('user-1', [{ to: SECOND, by: stranger }, { to: AGENT }]));
      },
    ],
    ['a proof of another type', () => delegated(proofOf('user-1', [{ to: AGENT, header: { typ: 'JWT' } }]))],
    ['a proof without actor', () => delegated(proofOf('user-1', [{ to: AGENT, changes: { act: undefined } }]))],
    ['a proof for another caller', () => delegated(proofOf('user-1', [{ to: SECOND }]))],
    [
      'a proof for a caller of another issuer',
      () => delegated(proofOf('user-1', [{ to: AGENT, changes: { act: { sub: AGENT, iss: OAUTH } } }])),
    ],
    [
      'an actor chain that the proofs do not bear out',
      () =>
        delegated(
          proofOf('user-1', [
            { to: AGENT, changes: { act: { sub: AGENT, iss: 'spiffe://acme.example', act: { sub: SECOND } } } },
          ]),
        ),
    ],
    [
      'another delegator further down',
      () => delegated(proofOf('user-1', [{ to: SECOND }, { to: AGENT, changes: { sub: 'user-test' } }])),
    ],
    ['no scopes', () => delegated(proofOf('user-1', [{ to: AGENT, changes: { scope: undefined } }]))],
    ['a proof inside that is no text', () => delegated(proofOf('user-1', [{ to: AGENT, changes: { prf: {} } }]))],
    ['no proof at all', () => delegated('x')],
    ['an empty header', () => delegated('')],
  ])('refuses a chain: %s', async (_name, request) => {
    await refusedWith('identity_unverified', await request());
  });

  test('refuses two proofs', async () => {
    const proof = await proofOf('user-1', [{ to: AGENT }]);
    const headers = { authorization: `Bearer ${await svid()}`, 'svc-delegation': [proof, proof] };
    await refusedWith('identity_unverified', { headers });
  });
});

describe(covers('auth.delegation.unknown-issuer'), () => {
  test('refuses a hop of an issuer that is not trusted for delegations', async () => {
    await refusedWith(
      'identity_unverified',
      await delegated(proofOf('user-1', [{ to: AGENT, changes: { iss: CLOUD }, by: cloud }])),
    );
  });
});

describe(covers('auth.delegation.too-long', 'errors.code.chain-400'), () => {
  test('refuses four hops where three are allowed, before any signature is verified', async () => {
    const stranger = await signer('ES256', 'sts');
    const hops = [SECOND, THIRD, 'spiffe://acme.example/fourth', AGENT].map((to) => ({ to, by: stranger }));
    const answer = await refusedWith('delegation_chain_too_long', await delegated(proofOf('user-1', hops)));
    expect(answer?.status).toBe(400);
  });
});

describe(covers('auth.delegation.cyclic'), () => {
  test.each([
    ['a delegate twice', 'user-1', [AGENT, SECOND, AGENT]],
    ['the delegator as delegate', AGENT, [SECOND, AGENT]],
    ['to oneself', AGENT, [AGENT]],
  ])('%s', async (_name, delegator, to) => {
    const answer = await refusedWith(
      'delegation_chain_cyclic',
      await delegated(
        proofOf(
          delegator,
          to.map((subject) => ({ to: subject })),
        ),
      ),
    );
    expect(answer?.status).toBe(400);
  });
});

describe(covers('auth.delegation.expired'), () => {
  test('refuses an expired proof without clock skew', async () => {
    await refusedWith(
      'delegation_expired',
      await delegated(proofOf('user-1', [{ to: AGENT, changes: { exp: SECONDS } }])),
    );
  });
  test('refuses a proof with an expired earlier hop', async () => {
    const hops = [{ to: SECOND, changes: { exp: SECONDS - 1 } }, { to: AGENT }];
    await refusedWith('delegation_expired', await delegated(proofOf('user-1', hops)));
  });
  test.each([
    ['a text', String(SECONDS + 100)],
    ['not finite', null],
    ['a fraction', SECONDS + 0.5],
    ['a date', '2030-02-30T00:00:00Z'],
  ])('refuses an exp that is %s', async (_name, exp) => {
    await refusedWith('delegation_expired', await delegated(proofOf('user-1', [{ to: AGENT, changes: { exp } }])));
  });
});

describe('the times of a delegation', () => {
  const inner = (changes: object) => delegated(proofOf('user-1', [{ to: SECOND, changes }, { to: AGENT }]));
  const last = (changes: object) => delegated(proofOf('user-1', [{ to: AGENT, changes }]));

  test.each([
    ['nbf an hour ahead', { nbf: SECONDS + 3600 }],
    ['nbf after the skew', { nbf: SECONDS + 61 }],
    ['nbf a text', { nbf: String(SECONDS) }],
    ['iat an hour ahead', { iat: SECONDS + 3600 }],
    ['iat a fraction', { iat: SECONDS - 0.5 }],
    ['a lifetime of ten years', { exp: SECONDS + 315_360_000 }],
    ['a lifetime of a day and a second', { iat: SECONDS, exp: SECONDS + 86_401 }],
    ['a lifetime of more than a day from now', { iat: undefined, exp: SECONDS + 86_401 }],
  ])('%s is refused in the last and in an earlier hop', async (_name, changes) => {
    await refusedWith('identity_unverified', await last(changes));
    await refusedWith('identity_unverified', await inner(changes));
  });

  test.each([
    ['nbf within the skew', { nbf: SECONDS + 60 }],
    ['iat within the skew', { iat: SECONDS + 60 }],
    ['no iat', { iat: undefined }],
    ['a lifetime of a day', { iat: SECONDS, exp: SECONDS + 86_400 }],
  ])('%s is accepted', async (_name, changes) => {
    for (const request of [await last(changes), await inner(changes)]) {
      expect(await auth().authenticate(request)).toMatchObject({ kind: 'authenticated' });
    }
  });

  test.each([
    { maxLifetimeSeconds: 0 },
    { maxLifetimeSeconds: Number.POSITIVE_INFINITY },
    { clockSkewSeconds: -1 },
    { clockSkewSeconds: 301 },
  ])('%j is no rule', (changes) => {
    const issuers = [{ issuer: STS, keys: localKeys(keySetOf(sts)) }];
    expect(() => auth({ delegation: { maxChainDepth: 1, issuers, audience: HOST, ...changes } })).toThrow(TypeError);
  });
});

describe(covers('auth.delegation.no-expiry'), () => {
  const endless = () => delegated(proofOf('user-1', [{ to: AGENT, changes: { exp: undefined } }]));
  const rules = (lifetimeWithoutExpirySeconds: number) => ({
    delegation: {
      maxChainDepth: 1,
      issuers: [{ issuer: STS, keys: localKeys(keySetOf(sts)) }],
      audience: HOST,
      lifetimeWithoutExpirySeconds,
    },
  });
  test('is refused by default', async () => refusedWith('delegation_expired', await endless()));
  test('is bounded by lifetimeWithoutExpirySeconds', async () => {
    expect(await auth(rules(60)).authenticate(await endless())).toMatchObject({
      principal: { expiresAt: (SECONDS + 50) * 1000 },
    });
    await refusedWith('delegation_expired', await endless(), rules(5));
  });
});

describe(covers('auth.delegation.foreign-audience'), () => {
  test.each([['https://other.example.com'], [[HOST, 'https://other.example.com']], [undefined]])('%j', async (aud) => {
    await refusedWith('audience_mismatch', await delegated(proofOf('user-1', [{ to: AGENT, changes: { aud } }])));
  });
});

describe(covers('auth.delegation.amplified', 'errors.code.amplified-403'), () => {
  test.each<[string, readonly Hop[]]>([
    [
      'a hop with more than the one before',
      [
        { to: SECOND, scope: 'runs:read' },
        { to: AGENT, scope: 'runs:read runs:cancel' },
      ],
    ],
    ['a hop with more than the delegator', [{ to: AGENT, scope: 'runs:read runs:create' }]],
    ['a wildcard where the delegator has none', [{ to: AGENT, scope: 'runs:*' }]],
    [
      'a wider wildcard',
      [
        { to: SECOND, scope: 'runs:read' },
        { to: AGENT, scope: '*:read' },
      ],
    ],
  ])('%s', async (_name, hops) => {
    const answer = await refusedWith('delegation_scope_amplified', await delegated(proofOf('user-1', hops)));
    expect(answer?.status).toBe(403);
  });

  test('never gives the last hop a scope that the first lacks, for any chain', async () => {
    const scopes = fc.subarray(['runs:read', 'runs:cancel', 'runs:create', 'runs:*', 'audit:read']);
    await fc.assert(
      fc.asyncProperty(fc.array(scopes, { minLength: 1, maxLength: 3 }), async (chain) => {
        const hops = chain.map((granted, at) => ({
          to: [AGENT, SECOND, THIRD].slice(0, chain.length).reverse()[at] ?? '',
          scope: granted.join(' '),
        }));
        const outcome = await auth().authenticate(await delegated(proofOf('user-1', hops)));
        if (outcome.kind === 'refused') {
          expect(outcome.error.code).toBe('delegation_scope_amplified');
          return;
        }
        for (const scope of outcome.principal.scopes) expect(['runs:read', 'runs:cancel']).toContain(scope);
        for (const granted of chain) for (const scope of outcome.principal.scopes) expect(granted).toContain(scope);
      }),
      { numRuns: 40 },
    );
  });
});

describe(covers('auth.delegation.tenant-disagreement'), () => {
  test('refuses alike for an existing and an unknown tenant', async () => {
    const answers = [
      await refusedWith('identity_unresolvable', await delegated(proofOf('user-globex', [{ to: AGENT }]))),
      await refusedWith('identity_unresolvable', await delegated(proofOf('user-nobody', [{ to: AGENT }]))),
      await refusedWith('identity_unresolvable', await delegated(proofOf('user-test', [{ to: AGENT }]))),
      ...(await Promise.all(
        ['globex', 'no-such-tenant'].map(async (svc_tenant) =>
          refusedWith(
            'identity_unresolvable',
            await delegated(proofOf('user-1', [{ to: AGENT, changes: { svc_tenant } }])),
          ),
        ),
      )),
    ];
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  test('accepts a chain that asserts the tenant of the caller', async () => {
    const proof = proofOf('user-1', [{ to: AGENT, changes: { svc_tenant: 'acme' } }]);
    expect(await auth().authenticate(await delegated(proof))).toMatchObject({ kind: 'authenticated' });
  });
});

describe(covers('auth.delegation.on-behalf-of-verified', 'runs.subject.actor-not-self-asserted'), () => {
  test('refuses a proof beside a credential that cannot carry one', async () => {
    const proof = await proofOf('user-1', [{ to: AGENT }]);
    await refusedWith('identity_unverified', bearing(KEY, { 'svc-delegation': proof }));
    expect(await auth().authenticate(bearing(KEY))).toMatchObject({ kind: 'authenticated' });
  });
  test('refuses a proof when the host has no delegation rules', async () => {
    await refusedWith('identity_unverified', await delegated(proofOf('user-1', [{ to: AGENT }])), {
      delegation: undefined,
    } as never);
  });
});

describe(
  covers(
    'auth.delegation.grants-nothing',
    'auth.delegation.authorized-as-direct',
    'auth.delegation.hop-scopes-not-authorization',
  ),
  () => {
    test('denies a scope that was not delegated, even when caller and delegator hold it', async () => {
      const outcome = await auth().authenticate(
        await delegated(proofOf('user-1', [{ to: AGENT, scope: 'runs:read' }])),
      );
      if (outcome.kind !== 'authenticated') throw new Error('refused');
      expect(authorize(outcome.principal, 'runs:read').allowed).toBe(true);
      expect(authorize(outcome.principal, 'runs:cancel').allowed).toBe(false);
      expect(outcome.principal.tenancy).toEqual({ tenant: 'acme', workspaces: ['acme-prod'], mode: 'live' });
    });

    test('allows nothing for a chain without scopes', async () => {
      const outcome = await auth().authenticate(await delegated(proofOf('user-1', [{ to: AGENT, scope: '' }])));
      expect(outcome).toMatchObject({ kind: 'authenticated', principal: { scopes: [] } });
    });
  },
);

describe(
  covers('auth.audit.decision-recordable', 'auth.audit.reason-closed', 'auth.audit.decision-content-free'),
  () => {
    test('records depth, issuer class and audience of a decision, and no claim', async () => {
      const outcome = await auth().authenticate(await delegated(proofOf('user-1', [{ to: SECOND }, { to: AGENT }])));
      if (outcome.kind !== 'authenticated') throw new Error('refused');
      const asked = { action: 'runs.read', resource: 'acme/run_1' };
      const decided = (scope: string) =>
        authorizationDecided(outcome.principal, asked, authorize(outcome.principal, scope));
      expect(decided('runs:read')).toEqual({
        principal: 'p_user',
        action: 'runs.read',
        resource: 'acme/run_1',
        allowed: true,
        reason: 'scope_granted actor=p_agent depth=2 issuer=spiffe audience=match binding=bearer',
      });
      expect(decided('audit:read').reason).toMatch(/^forbidden actor=p_agent depth=2 issuer=spiffe audience=match/);
      expect(JSON.stringify(decided('runs:read'))).not.toMatch(/spiffe:|https?:|user-1/);
    });
  },
);
