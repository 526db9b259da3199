import { createServer } from 'node:http';
import { deflateSync } from 'node:zlib';
import { authenticator, guard, type Lane, type OutcomeReport, REFUSAL_REASONS, type RequestHead } from '@svc/auth';
import { apiKeyLane, hashApiKey, type KeyStore, memoryKeyStore } from '@svc/auth/api-key';
import { bearerLane, localKeys, type TokenIssuer } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore, type ReplayAnswer, statelessNonces } from '@svc/auth/dpop';
import { clientSecretBasic, introspectionLane } from '@svc/auth/introspection';
import { guard as nodeGuard } from '@svc/auth/node';
import { clientAddress, memoryRateLimiter } from '@svc/auth/rate-limit';
import { statusLists } from '@svc/auth/status-list';
import { cloudSubject, workloadLane } from '@svc/auth/workload';
import { describe, expect, test } from 'vitest';
import { addressClass } from '../src/address-class.ts';
import { proofMaker } from './proofs.ts';
import { keySetOf, signer } from './tokens.ts';

const NOW = Date.UTC(2026, 5, 1);
const now = () => NOW;
const seconds = NOW / 1000;
const ORIGIN = 'https://svc.example.com';
const ISSUER = 'https://idp.example.com';
const CLUSTER = 'https://cluster.example.com';
const KEY = 'operator-key-of-this-test-0123456789';
const EXPIRED = 'expired-key-of-this-test-0123456789';
const REVOKED = 'revoked-key-of-this-test-0123456789';
const idp = await signer('ES256');
const stranger = await signer('ES256');
const client = await proofMaker();

const claims = { iss: ISSUER, aud: 'svc', sub: 'u_1', iat: seconds, exp: seconds + 60, svc_tenant: 'acme' };
const user = { ...claims, svc_workspaces: ['*'] };
const workload = { ...claims, iss: CLUSTER, sub: 'deploy' };
const grants = { tenant: 'acme', workspaces: 'all', scopes: ['runs:read'], mode: 'live' } as const;
const down = () => Promise.reject(new Error('database at 10.0.0.7 is down'));

interface Parts {
  readonly keys?: KeyStore;
  readonly issuer?: Partial<TokenIssuer>;
  readonly claim?: () => Promise<ReplayAnswer>;
  readonly resolve?: () => Promise<never>;
  readonly nonces?: boolean;
  readonly limit?: number;
  readonly lanes?: readonly Lane[];
}

/** Makes an authenticator that lists its reports. */
function reporting(parts: Parts = {}) {
  const reports: OutcomeReport[] = [];
  const records = [
    { id: 'key_1', hash: hashApiKey(KEY), principal: 'p_1', ...grants },
    { id: 'key_2', hash: hashApiKey(EXPIRED), principal: 'p_2', expiresAt: NOW, ...grants },
    { id: 'key_3', hash: hashApiKey(REVOKED), principal: 'p_3', revokedAt: NOW, ...grants },
  ];
  const nonces = parts.nonces === true ? statelessNonces({ secret: new Uint8Array(32), now }) : undefined;
  const replays = parts.claim === undefined ? memoryReplayStore({ now }) : { claim: parts.claim };
  const dpop = dpopVerifier({ origin: ORIGIN, replays, now, nonces });
  const keys = localKeys(keySetOf(idp));
  const resolve = ({ subject }: { readonly subject: string }) =>
    subject === 'deploy' ? { principal: 'p_4', ...grants } : undefined;
  const lanes = parts.lanes ?? [
    workloadLane({
      schemes: [cloudSubject({ issuers: [{ issuer: CLUSTER, keys }], now })],
      audience: 'svc',
      resolve: parts.resolve ?? resolve,
      dpop,
      now,
    }),
    bearerLane({ issuers: [{ issuer: ISSUER, audience: 'svc', profile: 'user', keys, ...parts.issuer }], dpop, now }),
    introspectionLane({
      issuer: ISSUER,
      audience: 'svc',
      endpoint: `${ISSUER}/introspect`,
      client: clientSecretBasic({ clientId: 'svc', clientSecret: 'secret' }),
      isToken: (token) => token.startsWith('opaque'),
      fetch: async () => new Response('{"active":false}'),
      now,
    }),
    apiKeyLane({ keys: parts.keys ?? memoryKeyStore(records), now }),
  ];
  const auth = authenticator({
    lanes,
    onOutcome: (report) => reports.push(report),
    refusals: {
      limiter: memoryRateLimiter({ limit: parts.limit ?? 100, windowSeconds: 60, now }),
      clientOf: clientAddress(),
    },
  });
  return { auth, reports };
}

const bearing = (token: string, extra: object = {}): RequestHead => ({
  headers: { authorization: `Bearer ${token}`, ...extra },
  peer: { address: '192.0.2.1' },
});
const signed = async (change: object, header: object = { typ: 'JWT' }) =>
  bearing(await idp.sign({ ...user, ...change }, header));
const acting = async (change: object, extra: object = {}) =>
  bearing(await idp.sign({ ...workload, ...change }, { typ: 'JWT' }), extra);

async function proving(change: object = {}, claimed: object = {}): Promise<RequestHead> {
  const token = await idp.sign({ ...user, cnf: { jkt: client.thumbprint } }, { typ: 'JWT' });
  const dpop = await client.proof({
    htm: 'GET',
    htu: `${ORIGIN}/runs`,
    token,
    iat: seconds,
    ...change,
    claims: claimed,
  });
  const head = { authorization: `DPoP ${token}`, dpop };
  return { method: 'GET', url: '/runs', headers: head, peer: { address: '192.0.2.1' } };
}

const LIST = `${ISSUER}/lists/1`;

/** Answers with a list of two bits, in which the first token is valid and the second one suspended. */
async function listed(): Promise<Response> {
  const list = { bits: 2, lst: deflateSync(Buffer.from([0b1000])).toString('base64url') };
  return new Response(await idp.sign({ sub: LIST, iat: seconds, status_list: list }, { typ: 'statuslist+jwt' }));
}

/** A refusal of each reason, and its accepted twin. */
const REFUSED: readonly [
  reason: string,
  lane: string,
  code: string,
  refused: () => RequestHead | Promise<RequestHead>,
  twin: () => RequestHead | Promise<RequestHead>,
  parts?: Parts,
][] = [
  ['absent', 'none', 'unauthenticated', () => ({ headers: {}, peer: { address: '192.0.2.1' } }), () => bearing(KEY)],
  ['malformed', 'none', 'unauthenticated', () => bearing(`${KEY} x`), () => bearing(KEY)],
  ['unknown', 'api-key', 'unauthenticated', () => bearing(`${KEY}x`), () => bearing(KEY)],
  ['expired', 'api-key', 'key_expired', () => bearing(EXPIRED), () => bearing(KEY)],
  ['revoked', 'api-key', 'key_revoked', () => bearing(REVOKED), () => bearing(KEY)],
  ['inactive', 'introspection', 'unauthenticated', () => bearing('opaque'), () => bearing(KEY)],
  [
    'suspended',
    'bearer-token',
    'unauthenticated',
    () => signed({ status: { status_list: { idx: 1, uri: LIST } } }),
    () => signed({ status: { status_list: { idx: 0, uri: LIST } } }),
    { issuer: { statusLists: statusLists({ uris: [LIST], fetch: listed }) } },
  ],
  [
    'status-list',
    'bearer-token',
    'service_unavailable',
    () => signed({ status: { status_list: { idx: 1, uri: LIST } } }),
    () => signed({}),
    { issuer: { statusLists: statusLists({ uris: [LIST], fetch: down }) } },
  ],
  ['token-type', 'bearer-token', 'unauthenticated', () => signed({}, { typ: 'logout+jwt' }), () => signed({})],
  ['signing-key', 'bearer-token', 'unauthenticated', () => signed({}, { typ: 'JWT', kid: 'x' }), () => signed({})],
  ['signature', 'bearer-token', 'unauthenticated', async () => bearing(await stranger.sign(user)), () => signed({})],
  ['audience', 'bearer-token', 'audience_mismatch', () => signed({ aud: 'other' }), () => signed({})],
  ['claims', 'bearer-token', 'unauthenticated', () => signed({ iat: 'now' }), () => signed({})],
  ['time', 'bearer-token', 'unauthenticated', () => signed({ iat: seconds + 61, exp: seconds + 99 }), () => signed({})],
  [
    'lifetime',
    'bearer-token',
    'credential_lifetime_exceeded',
    () => signed({ exp: seconds + 86_401 }),
    () => signed({}),
  ],
  ['grants', 'bearer-token', 'forbidden', () => signed({ svc_workspaces: [] }), () => signed({})],
  ['sender', 'bearer-token', 'sender_constraint_missing', () => signed({ cnf: { jkt: 'x' } }), () => signed({})],
  ['proof', 'bearer-token', 'unauthenticated', () => proving({ htm: 'PUT' }), () => proving()],
  ['proof-time', 'bearer-token', 'unauthenticated', () => proving({ iat: seconds + 61 }), () => proving()],
  [
    'proof-nonce',
    'bearer-token',
    'unauthenticated',
    () => proving(),
    () => proving({ nonce: statelessNonces({ secret: new Uint8Array(32), now }).current() }),
    { nonces: true },
  ],
  ['proof-used', 'bearer-token', 'unauthenticated', () => proving(), () => proving(), { claim: taken() }],
  [
    'identity',
    'workload',
    'identity_unverified',
    () => acting({ sub: 'spiffe://x.example/a', iss: 'x' }),
    () => acting({}),
  ],
  ['unbound', 'workload', 'identity_unresolvable', () => acting({ sub: 'other' }), () => acting({})],
  ['delegation', 'workload', 'identity_unverified', () => acting({}, { 'svc-delegation': 'x.y.z' }), () => acting({})],
  ['key-store', 'api-key', 'service_unavailable', () => bearing(KEY), () => signed({}), { keys: { candidates: down } }],
  ['record', 'api-key', 'unauthenticated', () => bearing(KEY), () => signed({}), { keys: malformed() }],
  [
    'issuer',
    'bearer-token',
    'service_unavailable',
    () => signed({}),
    () => acting({}),
    { issuer: { keys: { find: down } } },
  ],
  [
    'directory',
    'bearer-token',
    'service_unavailable',
    () => signed({}),
    () => acting({}),
    { issuer: { isDisabled: down } },
  ],
  ['replay-store', 'bearer-token', 'service_unavailable', () => proving(), () => signed({}), { claim: down }],
  [
    'replay-store-full',
    'bearer-token',
    'service_unavailable',
    () => proving(),
    () => signed({}),
    { claim: async () => 'full' },
  ],
];

describe('onOutcome', () => {
  test.each(REFUSED)('reports %s, and its accepted twin', async (reason, lane, code, refused, twin, parts) => {
    const { auth, reports } = reporting(parts);
    // The accepted twin comes first, so that a store that takes one proof refuses the second.
    const accepted = await auth.authenticate(await twin());
    expect(accepted.kind === 'refused' ? accepted.error.message : accepted.kind).toBe('authenticated');
    await auth.authenticate(await refused());
    expect(reports).toEqual([
      expect.objectContaining({ kind: 'authenticated', address: 'public' }),
      {
        ...{ kind: 'refused', lane, code, reason, address: 'public', client: expect.any(Number) },
        fault: code === 'service_unavailable' || reason === 'record' ? 'host' : 'caller',
      },
    ]);
  });

  test('has a vector for each reason of an authenticator', () => {
    const elsewhere = ['scope', 'sign-in', 'rate-limit', 'budget', 'internal'];
    expect([...REFUSED.map(([reason]) => reason), ...elsewhere].sort()).toEqual([...REFUSAL_REASONS].sort());
  });

  test('reports a used-up budget and a lane that fails', async () => {
    const { auth, reports } = reporting({ limit: 1 });
    for (let turn = 0; turn < 2; turn++) await auth.authenticate(bearing(`${KEY}x`));
    const failing: Lane = { name: 'mine', authenticate: () => Promise.reject(new Error('bug')) };
    const own = reporting({ lanes: [failing] });
    await own.auth.authenticate(bearing('x'));
    expect([...reports, ...own.reports]).toMatchObject([
      { reason: 'unknown', code: 'unauthenticated' },
      { reason: 'budget', code: 'rate_limited', fault: 'caller' },
      { lane: 'other', reason: 'internal', code: 'service_unavailable', fault: 'host' },
    ]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('log is full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('log is full'))],
  ])('changes no outcome when it %s', async (_title, onOutcome) => {
    const lanes = [
      apiKeyLane({ keys: memoryKeyStore([{ id: 'k', hash: hashApiKey(KEY), principal: 'p_1', ...grants }]), now }),
    ];
    const auth = authenticator({ lanes, onOutcome });
    expect(await auth.authenticate(bearing(KEY))).toMatchObject({ kind: 'authenticated' });
    expect(await auth.authenticate(bearing('x'))).toMatchObject({
      kind: 'refused',
      error: { code: 'unauthenticated' },
    });
  });

  test('must be a function', () => {
    const lanes = [apiKeyLane({ keys: memoryKeyStore([]), now })];
    expect(() => authenticator({ lanes, onOutcome: 'log' as never })).toThrow(/onOutcome must be a function/);
  });

  test('contains no part of a credential, a claim or an address', async () => {
    const { auth, reports } = reporting();
    for (const [, , , refused, twin] of REFUSED) {
      const heads = [await refused(), await twin()];
      for (const head of heads) await auth.authenticate(head);
      const text = JSON.stringify(reports);
      for (const secret of [KEY, 'u_1', 'acme', 'key_1', 'p_1', '192.0.2', ISSUER, 'deploy', 'eyJ'])
        expect(text).not.toContain(secret);
    }
    const words = new Set<string>(REFUSAL_REASONS);
    expect(reports.every((report) => report.kind === 'authenticated' || words.has(report.reason))).toBe(true);
  });

  test('tells clients apart, and the addresses of one network not', async () => {
    const { auth, reports } = reporting();
    const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::ffff'];
    for (const address of addresses) await auth.authenticate({ headers: {}, peer: { address } });
    await auth.authenticate({ headers: {} });
    const [one, other, network, sameNetwork, unknown] = reports.map(({ client }) => client);
    expect(one).not.toBe(other);
    expect(network).toBe(sameNetwork);
    expect(unknown).toBeUndefined();
  });
});

describe('a guard', () => {
  test('reports the callers that it refuses itself, once each', async () => {
    const reports: OutcomeReport[] = [];
    const onOutcome = (report: OutcomeReport) => reports.push(report);
    const { auth } = reporting();
    const limiter = memoryRateLimiter({ limit: 1, windowSeconds: 60, now });
    const scoped = guard({ authenticator: auth, scope: 'runs:create', onOutcome });
    const limited = guard({ authenticator: auth, limiter, onOutcome });
    expect(await scoped(bearing(KEY))).toMatchObject({ admitted: false });
    expect(await limited(await signed({}))).toMatchObject({ admitted: true });
    expect(await limited(await signed({}))).toMatchObject({ admitted: false });
    expect(reports).toMatchObject([
      { lane: 'api-key', code: 'forbidden', reason: 'scope', address: 'public' },
      { lane: 'bearer-token', code: 'rate_limited', reason: 'rate-limit', address: 'public' },
    ]);
  });

  test('of an adapter carries it, and answers as without it when it throws', async () => {
    const reports: OutcomeReport[] = [];
    const onOutcome = (report: OutcomeReport) => {
      reports.push(report);
      throw new Error('log is full');
    };
    const admitted = nodeGuard({ authenticator: reporting().auth, scope: 'runs:create', onOutcome });
    const server = createServer((request, response) => void admitted(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { headers: { authorization: `Bearer ${KEY}` } });
    server.close();
    expect(status).toBe(403);
    expect(reports).toMatchObject([{ reason: 'scope', address: 'loopback' }]);
  });
});

describe('the class of an address', () => {
  test.each([
    ['loopback', ['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0::/64', '::ffff:127.0.0.1']],
    [
      'private',
      ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.1.1', '100.64.0.1', '100.127.0.1'],
    ],
    ['private', ['fd00::1', 'fc00:1::/64', 'fe80::1%eth0', '::ffff:10.0.0.1']],
    ['public', ['9.255.255.255', '11.0.0.1', '172.15.0.1', '172.32.0.1', '192.169.0.1', '100.63.0.1', '100.128.0.1']],
    ['public', ['203.0.113.9', '2001:db8::1', '2001:db8:0:0::/64', 'fe00::1', 'ff02::1']],
    ['unknown', ['', 'client', '300.1.1.1', '10.0.0.1:80']],
  ])('is %s for %j', (expected, addresses) => {
    expect(addresses.map((address) => addressClass(address))).toEqual(addresses.map(() => expected));
  });
});

/** Returns a replay store that takes one proof. */
function taken(): () => Promise<ReplayAnswer> {
  let answer: ReplayAnswer = 'fresh';
  return async () => {
    const given = answer;
    answer = 'seen';
    return given;
  };
}

function malformed(): KeyStore {
  const record = { id: 'key_1', hash: hashApiKey(KEY), principal: 'p_1', ...grants, scopes: 'runs:read' };
  return { candidates: () => [record as never] };
}
