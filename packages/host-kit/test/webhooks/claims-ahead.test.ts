import { expect, test } from 'vitest';
import { AttemptsUnderWay, type AttemptUnderWay } from '../../src/webhooks/attempts-under-way.ts';
import { type ClaimState, isClaimDue, planClaim } from '../../src/webhooks/claims-ahead.ts';
import { Lanes } from '../../src/webhooks/lanes.ts';
import { TurnOrder } from '../../src/webhooks/turn-order.ts';
import { sampleDelivery } from './samples.ts';

const TIMEOUT = { kind: 'failed', reason: 'timeout', durationMs: 5000 } as const;

/** Makes the state of a host from the names of subscriptions, `tenant/subscription`. */
function stateOf({
  underWay = [],
  ready = [],
  slow = [],
  concurrency = { total: 4, perTenant: 4, perSubscription: 2 },
}: {
  readonly underWay?: readonly string[];
  readonly ready?: readonly string[];
  readonly slow?: readonly string[];
  readonly concurrency?: ClaimState['concurrency'];
}): ClaimState {
  const state = { underWay: new AttemptsUnderWay(), ready: new TurnOrder(), lanes: new Lanes() };
  for (const name of underWay) state.underWay.add(attemptOf(name));
  for (const name of ready) {
    const delivery = { ...sampleDelivery({ webhookId: name }), tenant: tenantOf(name), leaseUntil: 1000 };
    state.ready.add({ delivery, beginBy: 100 });
  }
  for (const name of slow) state.lanes.ended(name, TIMEOUT);
  return { ...state, concurrency, attemptTimeoutMs: 1000 };
}

const tenantOf = (name: string) => name.split('/')[0] ?? '';
const subscription = (name: string) => ({ tenant: tenantOf(name), webhookId: name });
const repeat = (name: string, times: number) => Array.from({ length: times }, (_, index) => `${name}${index}`);

function attemptOf(name: string, since = 0): AttemptUnderWay {
  return { ...subscription(name), abort: new AbortController(), done: Promise.resolve(), since };
}

test('plans claims for twice the places, less those that are taken', () => {
  const plan = planClaim(stateOf({ underWay: ['t/a', 't/a', 't/b'], ready: ['t/a'] }), 50);
  expect(plan?.request.limit).toBe(2 * 4 - 3 - 1);
  const room = plan?.request.room;
  expect(['t/a', 't/b', 't/c'].map((name) => room?.capacityOf(subscription(name)))).toEqual([1, 3, 4]);
});

test('plans no claim when twice the places are taken', () => {
  const state = stateOf({ underWay: repeat('t/u', 4), ready: repeat('t/r', 4) });
  expect(planClaim(state, 50)).toBeUndefined();
});

test('plans a lease that outlives an attempt which begins at the last moment', () => {
  const plan = planClaim(stateOf({}), 50);
  expect(plan?.beginBy).toBeGreaterThan(50);
  expect(plan?.request.leaseUntil).toBeGreaterThan((plan?.beginBy ?? 0) + 1000);
});

test('leaves room for tenants that have no claim, however much one tenant has', () => {
  const concurrency = { total: 64, perTenant: 48, perSubscription: 4 };
  const room = planClaim(stateOf({ concurrency }), 50)?.request.room;
  let claims = 0;
  for (; room?.hasRoomFor('greedy'); claims++) room.take(subscription(`greedy/${claims}`));
  expect(claims).toBe(2 * 48);
  expect(room?.hasRoomFor('other')).toBe(true);
});

test('claims one delivery of a slow subscription, and half of the places for all of them', () => {
  const concurrency = { total: 64, perTenant: 48, perSubscription: 4 };
  const slow = repeat('t/s', 40);
  const room = planClaim(stateOf({ concurrency, slow }), 50)?.request.room;
  const claimed = slow.filter((name) => {
    if (room?.capacityOf(subscription(name)) !== 1) return false;
    room.take(subscription(name));
    return room.capacityOf(subscription(name)) <= 0;
  });
  expect(claimed.length).toBe(24);
  expect(room?.capacityOf(subscription('t/regular'))).toBe(8);
});

const BESIDE_GREEDY = { ready: repeat('greedy/r', 48), concurrency: { total: 64, perTenant: 48, perSubscription: 4 } };
const GREEDY = repeat('greedy/u', 48);

test.each([
  ['half of all claims are used up', { underWay: ['t/a', 't/b', 't/c', 't/d'] }, 0, true],
  ['more than half of all claims are held', { underWay: ['t/a', 't/b', 't/c', 't/d'], ready: ['t/e'] }, 0, false],
  ['a tenant beside a greedy one has used up half of its claims', { underWay: GREEDY, ...BESIDE_GREEDY }, 0, true],
  [
    'a tenant beside a greedy one has more than half of its claims',
    { underWay: [...GREEDY, ...repeat('t/u', 20)], ...BESIDE_GREEDY },
    0,
    false,
  ],
  ['a quarter of the places was freed', { underWay: [...GREEDY, ...repeat('t/u', 20)], ...BESIDE_GREEDY }, 16, true],
] as const)('when %s, a claim is due or not', (_title, state, ended, isDue) => {
  expect(isClaimDue(stateOf(state), 't', ended)).toBe(isDue);
});

test('an attempt that ends is counted no more, and the oldest of the others is next', () => {
  const attempts = new AttemptsUnderWay();
  const [first, second] = [attemptOf('t/a', 1), attemptOf('t/a', 2)];
  attempts.add(first);
  attempts.add(second);
  expect([attempts.size, attempts.oldestSince, attempts.countOf('t')]).toEqual([2, 1, 2]);
  attempts.delete(first);
  expect([attempts.size, attempts.oldestSince, attempts.countOf('t')]).toEqual([1, 2, 1]);
  attempts.delete(second);
  expect([attempts.size, attempts.oldestSince, attempts.countOf('t')]).toEqual([0, undefined, 0]);
});
