import { authenticator, type Lane, type RequestHead } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { bearerLane, localKeys, type TokenIssuer } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore, type ReplayStore } from '@svc/auth/dpop';
import { clientAddress, memoryRateLimiter } from '@svc/auth/rate-limit';
import { cloudSubject, type WorkloadLaneOptions, workloadLane } from '@svc/auth/workload';
import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { proofMaker } from './proofs.ts';
import { keySetOf, signer } from './tokens.ts';

const NOW = Date.UTC(2026, 5, 1);
const ORIGIN = 'https://svc.example.com';
const ISSUER = 'https://idp.example.com';
const KEY = 'operator-key-of-this-test-0123456789';
const now = () => NOW;
const seconds = NOW / 1000;
const idp = await signer('ES256');
const client = await proofMaker();
const claims = { iss: ISSUER, aud: 'svc', sub: 'u', iat: seconds, exp: seconds + 60 };
const mapped = { ...claims, svc_tenant: 'acme', svc_workspaces: ['*'] };
const grants = { tenant: 'acme', workspaces: 'all', scopes: [], mode: 'live' } as const;
const stored = memoryKeyStore([{ id: 'key_1', hash: hashApiKey(KEY), principal: 'p_1', ...grants }]);
const keys = localKeys(keySetOf(idp));

/** A dependency of a lane: it works until `isDown` is set. */
class Dependency {
  isDown = false;

  /** Makes a function that fails during an outage in the given way. */
  wrap<Args extends unknown[], Result>(
    work: (...args: Args) => Result | Promise<Result>,
    failure: () => Promise<never>,
  ): (...args: Args) => Result | Promise<Result> {
    return (...args) => (this.isDown ? failure() : work(...args));
  }
}

const throws = (): never => {
  throw new Error('database at 10.0.0.7 is down');
};
const rejects = () => Promise.reject(new Error('database at 10.0.0.7 is down'));

const bearing = async (token: string): Promise<RequestHead> => ({ headers: { authorization: `Bearer ${token}` } });

async function proving(token: string): Promise<RequestHead> {
  const dpop = await client.proof({ htm: 'GET', htu: `${ORIGIN}/runs`, token, iat: seconds });
  return { method: 'GET', url: '/runs', headers: { authorization: `DPoP ${token}`, dpop } };
}

function tokens(changes: Partial<TokenIssuer>, replays: ReplayStore = memoryReplayStore({ now })): Lane {
  const issuer: TokenIssuer = { issuer: ISSUER, audience: 'svc', profile: 'user', keys, ...changes };
  return bearerLane({ issuers: [issuer], now, dpop: dpopVerifier({ origin: ORIGIN, replays, now }) });
}

function workloads(
  changes: Partial<WorkloadLaneOptions>,
  trustRoot = keys,
  replays: ReplayStore = memoryReplayStore({ now }),
): Lane {
  const schemes = [cloudSubject({ issuers: [{ issuer: ISSUER, keys: trustRoot }], now })];
  const resolve = () => ({ principal: 'p_2', ...grants });
  const dpop = dpopVerifier({ origin: ORIGIN, replays, now });
  return workloadLane({ schemes, audience: 'svc', resolve, now, dpop, ...changes });
}

const token = await idp.sign(mapped, { typ: 'JWT' });
const bound = await idp.sign({ ...mapped, cnf: { jkt: client.thumbprint } }, { typ: 'JWT' });
const hop = { iss: ISSUER, sub: 'delegator', aud: 'svc', act: { sub: 'u', iss: ISSUER }, scope: '', exp: seconds + 60 };
const delegation = await idp.sign(hop, { typ: 'delegation+jwt' });

type Making = (dependency: Dependency, failure: () => Promise<never>) => Lane;

const replaysOf = (dependency: Dependency, failure: () => Promise<never>): ReplayStore => {
  const store = memoryReplayStore({ now });
  return { claim: dependency.wrap((id: string, expiresAt: number) => store.claim(id, expiresAt), failure) };
};
const keysOf: (...parts: Parameters<Making>) => typeof keys = (dependency, failure) => ({
  find: dependency.wrap((wanted) => keys.find(wanted), failure),
});

/** Each dependency of each lane, a request that is accepted while it works, and the refusal while it does not. */
const dependencies: readonly [string, Making, () => Promise<RequestHead>, code: string][] = [
  [
    'the store of API keys',
    (dependency, failure) => {
      const candidates = dependency.wrap((lookup: { hash: string }) => stored.candidates(lookup), failure);
      return apiKeyLane({ keys: { candidates }, now });
    },
    () => bearing(KEY),
    'service_unavailable',
  ],
  [
    'the keys of a token issuer',
    (...parts) => tokens({ keys: keysOf(...parts) }),
    () => bearing(token),
    'service_unavailable',
  ],
  [
    'the directory of accounts',
    (dependency, failure) => tokens({ isDisabled: dependency.wrap(() => false, failure) }),
    () => bearing(token),
    'service_unavailable',
  ],
  [
    'the replay store of tokens',
    (...parts) => tokens({}, replaysOf(...parts)),
    () => proving(bound),
    'service_unavailable',
  ],
  [
    'the replay store of workloads',
    (...parts) => workloads({}, keys, replaysOf(...parts)),
    () => proving(bound),
    'service_unavailable',
  ],
  [
    'the trust root of workloads',
    (...parts) => workloads({}, keysOf(...parts)),
    () => bearing(token),
    'identity_unverified',
  ],
  [
    'the resolver of workloads',
    (dependency, failure) => workloads({ resolve: dependency.wrap(() => ({ principal: 'p_2', ...grants }), failure) }),
    () => bearing(token),
    'identity_unresolvable',
  ],
  [
    'the keys of an issuer of delegations',
    (...parts) =>
      workloads({
        delegation: { maxChainDepth: 1, issuers: [{ issuer: ISSUER, keys: keysOf(...parts) }], audience: 'svc' },
      }),
    async () => ({ headers: { authorization: `Bearer ${token}`, 'svc-delegation': delegation } }),
    'identity_unverified',
  ],
];

const cases = dependencies.flatMap(([name, ...rest]) => [
  [`${name} throws`, throws, ...rest] as const,
  [`${name} rejects`, rejects, ...rest] as const,
]);

describe(covers('auth.workload.infrastructure-error-refuses', 'auth.rate-limit.per-key'), () => {
  test.each(cases)(
    'while %s, requests are refused and not counted',
    async (_name, failure, laneOf, requestOf, code) => {
      const dependency = new Dependency();
      const limiter = memoryRateLimiter({ limit: 2, windowSeconds: 60, now });
      const lanes = [laneOf(dependency, failure)];
      const host = authenticator({ lanes, refusals: { limiter, clientOf: clientAddress() } });
      const call = async () => host.authenticate({ ...(await requestOf()), peer: { address: '192.0.2.1' } });
      expect(await call()).toMatchObject({ kind: 'authenticated' });
      dependency.isDown = true;
      for (let turn = 0; turn < 5; turn++) {
        const outcome = await call();
        expect(outcome).toMatchObject({ kind: 'refused', error: { code, fault: 'host', rejected: false } });
        if (outcome.kind !== 'refused') continue;
        const { status, headers, message, cause } = outcome.error;
        expect([status, headers['retry-after']]).toEqual(
          code === 'service_unavailable' ? [503, '5'] : [401, undefined],
        );
        expect(message).not.toContain('10.0.0.7');
        expect(String(cause)).toContain('10.0.0.7');
      }
      dependency.isDown = false;
      expect(await call()).toMatchObject({ kind: 'authenticated' });
      expect(limiter.peek('192.0.2.1')).toMatchObject({ remaining: 2 });
    },
  );

  test('the cause of an outage names the issuer whose keys cannot be fetched, and the caller does not learn it', async () => {
    const fetch = () => Promise.reject(new Error('connection refused'));
    const issuers = [{ issuer: ISSUER, audience: 'svc', profile: 'user' as const }];
    const outcome = await authenticator({ lanes: [bearerLane({ issuers, fetch, now })] }).authenticate(
      await bearing(token),
    );
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'service_unavailable', reason: 'issuer' } });
    if (outcome.kind !== 'refused') return;
    expect(String(outcome.error.cause)).toBe(`Error: The keys of ${ISSUER} cannot be fetched. connection refused`);
    expect(outcome.error.message).not.toContain(ISSUER);
  });

  test.each(['undefined', 'null', '1', 'true', 'false', '"true"', '{}'])(
    'a replay store that answers %s accepts no proof',
    async (answer) => {
      const claim = () => (answer === 'undefined' ? undefined : JSON.parse(answer));
      const outcome = await authenticator({ lanes: [tokens({}, { claim })] }).authenticate(await proving(bound));
      expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'service_unavailable', fault: 'host' } });
    },
  );
});
