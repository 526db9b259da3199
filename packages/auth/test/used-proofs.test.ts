import { authenticator, guard, type RequestHead } from '@svc/auth';
import { bearerLane, localKeys, type TokenIssuer } from '@svc/auth/bearer';
import { type DpopOptions, dpopVerifier, memoryReplayStore, type ReplayStore, statelessNonces } from '@svc/auth/dpop';
import { clientAddress, memoryRateLimiter } from '@svc/auth/rate-limit';
import { cloudSubject, workloadLane } from '@svc/auth/workload';
import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { type ProofMaker, proofMaker } from './proofs.ts';
import { keySetOf, signer } from './tokens.ts';

const NOW = Date.UTC(2026, 5, 1);
const ORIGIN = 'https://svc.example.com';
const ISSUER = 'https://idp.example.com';
const seconds = NOW / 1000;
const now = () => NOW;
const idp = await signer('ES256');
const [key, otherKey] = [await proofMaker(), await proofMaker()];
const keys = localKeys(keySetOf(idp));

const LANES = ['bearerLane', 'workloadLane'] as const;

/** A host with one lane whose replay store counts its claims. */
function host(
  lane: (typeof LANES)[number],
  changes: Partial<DpopOptions> & { readonly issuer?: Partial<TokenIssuer> } = {},
) {
  const { issuer, ...options } = changes;
  const inner = options.replays ?? memoryReplayStore({ now });
  const claims: string[] = [];
  const replays: ReplayStore = {
    claim(id, expiresAt) {
      claims.push(id);
      return inner.claim(id, expiresAt);
    },
  };
  const dpop = dpopVerifier({ origin: ORIGIN, now, ...options, replays });
  const clock = { monotonic: 0 };
  const refusals = memoryRateLimiter({ limit: 3, windowSeconds: 60, now: () => clock.monotonic });
  const limiter = memoryRateLimiter({ limit: 2, windowSeconds: 60, now: () => clock.monotonic });
  const lanes =
    lane === 'bearerLane'
      ? [bearerLane({ issuers: [{ issuer: ISSUER, audience: 'svc', profile: 'user', keys, ...issuer }], now, dpop })]
      : [
          workloadLane({
            schemes: [cloudSubject({ issuers: [{ issuer: ISSUER, keys }], now })],
            audience: 'svc',
            resolve: ({ subject }) => ({
              principal: `p_${subject}`,
              tenant: 'acme',
              workspaces: 'all',
              scopes: [],
              mode: 'live',
            }),
            now,
            dpop,
          }),
        ];
  const auth = authenticator({ lanes, refusals: { limiter: refusals, clientOf: clientAddress() } });
  return { auth, claims, refusals, clock, limited: guard({ authenticator: auth, limiter }) };
}

/** A request with a new proof by the holder of a token for `sub`. */
async function request(sub: string, by: ProofMaker = key, nonce?: string): Promise<RequestHead> {
  const claims = { iss: ISSUER, aud: 'svc', sub, iat: seconds, exp: seconds + 60, cnf: { jkt: by.thumbprint } };
  const token = await idp.sign({ ...claims, svc_tenant: 'acme', svc_workspaces: ['*'] }, { typ: 'JWT' });
  const proved = { htm: 'GET', htu: `${ORIGIN}/runs`, token, iat: seconds, ...(nonce !== undefined && { nonce }) };
  const dpop = await by.proof(proved);
  const peer = { address: '192.0.2.1' };
  return { method: 'GET', url: '/runs', headers: { authorization: `DPoP ${token}`, dpop }, peer };
}

describe.each(LANES)(`${covers('auth.rate-limit.per-key')}, %s`, (lane) => {
  test('a caller above its limit uses up no proof, and still gets a nonce', async () => {
    const nonces = statelessNonces({ secret: new Uint8Array(32), now });
    const { limited, claims, clock } = host(lane, { nonces });
    const sent = await Promise.all([1, 2, 3, 4, 5].map(() => request('u', key, nonces.current())));
    const verdicts = [];
    for (const head of sent) verdicts.push(await limited(head));
    expect(verdicts.map((verdict) => (verdict.admitted ? 200 : verdict.refusal.status))).toEqual([
      200, 200, 429, 429, 429,
    ]);
    expect(claims).toHaveLength(2);
    const [, , refused] = verdicts;
    expect(refused).toMatchObject({
      refusal: { headers: { 'retry-after': '60', ratelimit: '"default";r=0;t=60', 'dpop-nonce': nonces.current() } },
    });
    clock.monotonic += 60_000;
    expect(await limited(sent[2] ?? { headers: {} }), 'the proof of a refused request is still good').toMatchObject({
      admitted: true,
    });
  });

  test('a thief of a used proof draws on no limit of its victim', async () => {
    const { limited } = host(lane);
    const stolen = await request('u');
    expect(await limited(stolen)).toMatchObject({ admitted: true });
    for (let turn = 0; turn < 3; turn++) expect(await limited(stolen)).toMatchObject({ refusal: { status: 401 } });
    const owner = await limited(await request('u'));
    expect(owner, 'its own requests are counted alone').toMatchObject({ admitted: true });
  });

  test('one of a hundred concurrent presentations of a proof is accepted', async () => {
    const { auth } = host(lane);
    const head = { ...(await request('u')), peer: undefined };
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => auth.authenticate(head)));
    expect(outcomes.filter(({ kind }) => kind === 'authenticated')).toHaveLength(1);
  });

  test('a holder of many keys fills its own budget, and the store for no other', async () => {
    const perHolder = memoryRateLimiter({ limit: 3, windowSeconds: 120, now: () => 0 });
    const { auth, claims, refusals } = host(lane, { perHolder, replays: memoryReplayStore({ now, maxEntries: 6 }) });
    const outcomes = [];
    for (const by of [key, otherKey, key, otherKey, key])
      outcomes.push(await auth.authenticate(await request('u', by)));
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      ...['authenticated', 'authenticated', 'authenticated'],
      ...['refused', 'refused'],
    ]);
    expect(outcomes[3]).toMatchObject({ error: { code: 'rate_limited', status: 429, retryAfterSeconds: 120 } });
    expect(claims).toHaveLength(3);
    expect(await auth.authenticate(await request('other'))).toMatchObject({ kind: 'authenticated' });
    expect(refusals.peek('192.0.2.1'), 'no guess was counted').toMatchObject({ remaining: 3 });
  });

  test.each([
    ['memory', () => memoryReplayStore({ now, maxEntries: 1 })],
    ['another place', (): ReplayStore => ({ claim: () => Promise.resolve('full' as const) })],
  ])('a store that is full in %s is told as 503 and not counted', async (_, replays) => {
    const { auth, refusals } = host(lane, { replays: replays() });
    await auth.authenticate(await request('first'));
    for (let turn = 0; turn < 5; turn++) {
      const outcome = await auth.authenticate(await request('u'));
      expect(outcome).toMatchObject({
        kind: 'refused',
        error: { code: 'service_unavailable', status: 503, fault: 'host' },
      });
      if (outcome.kind !== 'refused') continue;
      expect(outcome.error.headers['retry-after']).toBe('5');
      expect(outcome.error.message).toContain('no room');
      expect(outcome.error.message).not.toContain('used');
    }
    expect(refusals.peek('192.0.2.1')).toMatchObject({ remaining: 3 });
  });

  test('an error of the limit refuses with 503, and uses up no proof', async () => {
    const { auth, claims } = host(lane);
    const outcome = await auth.authenticate(await request('u'), () => {
      throw new Error('database at 10.0.0.7 is down');
    });
    expect(outcome).toMatchObject({ kind: 'refused', error: { fault: 'host' } });
    expect(claims).toHaveLength(0);
  });
});

test('a closed account uses up no proof', async () => {
  const { auth, claims } = host('bearerLane', { issuer: { isDisabled: () => true } });
  expect(await auth.authenticate(await request('u'))).toMatchObject({ error: { code: 'key_revoked' } });
  expect(claims).toHaveLength(0);
});

test('dpopVerifier.examine leaves a proof unused until use is called', async () => {
  const dpop = dpopVerifier({ origin: ORIGIN, now, replays: memoryReplayStore({ now }) });
  const head = await request('u');
  const token = String(Object(head.headers).authorization).slice('DPoP '.length);
  const bound = { token, thumbprint: key.thumbprint };
  const [first, second] = [await dpop.examine(head, bound), await dpop.examine(head, bound)];
  await first.use();
  await expect(second.use()).rejects.toThrow(/used before/);
  await expect(dpop.verify(head, bound)).rejects.toThrow(/used before/);
});
