import { expect, test } from 'vitest';
import { deliveryCheck } from '../../src/health/delivery-check.ts';
import type { DispatcherProgress } from '../../src/webhooks/dispatcher.ts';

const NOW = 1_000_000;
const IDLE: DispatcherProgress = { roundSince: undefined, failingSince: undefined, attemptSince: undefined };
const TIMEOUT = 5000;

const CASES: readonly [title: string, progress: Partial<DispatcherProgress>, reason: string | undefined][] = [
  ['nothing to do', {}, undefined],
  ['a round that has just begun', { roundSince: NOW - 100 }, undefined],
  ['a round that does not end', { roundSince: NOW - 60_001 }, 'stalled'],
  ['an attempt within its deadline', { attemptSince: NOW - TIMEOUT }, undefined],
  ['an attempt that outlives every deadline', { attemptSince: NOW - TIMEOUT - 60_001 }, 'stalled'],
  ['a round that failed', { failingSince: NOW - 10_000 }, undefined],
  ['rounds that go on failing', { failingSince: NOW - 10_001 }, 'failing'],
];

test.each(CASES)('judges a dispatcher with %s', (_title, progress, reason) => {
  const expected = reason === undefined ? { name: 'deliveries', ok: true } : { name: 'deliveries', ok: false, reason };
  expect(deliveryCheck({ ...IDLE, ...progress }, TIMEOUT, NOW)).toEqual(expected);
});
