import { expect, test } from 'vitest';
import { AttemptsUnderWay, type AttemptUnderWay } from '../../src/webhooks/attempts-under-way.ts';
import { nextStep, planClaim, type ReadyClaim } from '../../src/webhooks/claims-ahead.ts';
import { sampleDelivery } from './samples.ts';

const CONCURRENCY = { total: 4, perSubscription: 2 };

function underWay(...webhookIds: readonly string[]): AttemptsUnderWay {
  const attempts = new AttemptsUnderWay(CONCURRENCY);
  for (const webhookId of webhookIds) attempts.add(attemptOf(webhookId));
  return attempts;
}

function attemptOf(webhookId: string, since = 0): AttemptUnderWay {
  return { webhookId, abort: new AbortController(), done: Promise.resolve(), since };
}

const claimOf = (webhookId: string, beginBy = 100): ReadyClaim => ({
  delivery: { ...sampleDelivery({ webhookId }), leaseUntil: 1000 },
  beginBy,
});

const planned = (attempts: AttemptsUnderWay, ready: readonly ReadyClaim[]) =>
  planClaim({ underWay: attempts, ready, concurrency: CONCURRENCY, attemptTimeoutMs: 1000 }, 50);

test('plans claims for twice the slots, less those that are taken', () => {
  const plan = planned(underWay('a', 'a', 'b'), [claimOf('a')]);
  expect(plan?.request.limit).toBe(2 * 4 - 3 - 1);
  expect(['a', 'b', 'c'].map((webhookId) => plan?.request.capacityOf(webhookId))).toEqual([1, 3, 4]);
});

test('plans no claim when twice the slots are taken', () => {
  const ready = ['a', 'b', 'c', 'd'].map((webhookId) => claimOf(webhookId));
  expect(planned(underWay('a', 'b', 'c', 'd'), ready)).toBeUndefined();
});

test('plans a lease that outlives an attempt which begins at the last moment', () => {
  const plan = planned(underWay(), []);
  expect(plan?.beginBy).toBeGreaterThan(50);
  expect(plan?.request.leaseUntil).toBeGreaterThan((plan?.beginBy ?? 0) + 1000);
});

test.each([
  ['begins in a free slot', underWay('a'), claimOf('a'), 100, 'begin'],
  ['waits for a slot of its subscription', underWay('a', 'a'), claimOf('a'), 100, 'wait'],
  ['waits for a slot of the host', underWay('b', 'b', 'c', 'c'), claimOf('a'), 100, 'wait'],
  ['is released after its time, even when a slot is free', underWay(), claimOf('a'), 101, 'release'],
] as const)('a claim %s', (_title, attempts, claim, now, step) => {
  expect(nextStep(claim, attempts, now)).toBe(step);
});

test('an attempt that ends gives its slot back, and the oldest of the others is next', () => {
  const attempts = underWay();
  const [first, second] = [attemptOf('a', 1), attemptOf('a', 2)];
  attempts.add(first);
  attempts.add(second);
  expect([attempts.size, attempts.oldestSince, attempts.hasRoomFor('a')]).toEqual([2, 1, false]);
  attempts.delete(first);
  expect([attempts.size, attempts.oldestSince, attempts.hasRoomFor('a')]).toEqual([1, 2, true]);
  attempts.delete(second);
  expect([attempts.size, attempts.oldestSince, attempts.countBySubscription().size]).toEqual([0, undefined, 0]);
});
