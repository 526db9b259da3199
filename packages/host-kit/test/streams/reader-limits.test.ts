import { expect, test } from 'vitest';
import { readerLimiter } from '../../src/streams/reader-limits.ts';
import { manualClock } from './manual-clock.ts';

const RATE_LIMITED = expect.objectContaining({ code: 'rate_limited' });

test('anonymous readers take half of the places at most, and give them back', () => {
  const limiter = readerLimiter({ perRun: 10, perCredential: 10, total: 4 }, manualClock());
  const take = (index: number, isAnonymous: boolean) =>
    limiter.take({ runId: `run_${index}`, credentialId: `credential_${index}`, isAnonymous }, () => {});
  const giveBack = take(1, true);
  take(2, true);
  expect(() => take(3, true)).toThrow(RATE_LIMITED);
  take(4, false);
  giveBack();
  giveBack();
  take(5, true);
  expect(() => take(6, true)).toThrow(RATE_LIMITED);
  take(7, false);
  expect(() => take(8, false)).toThrow(RATE_LIMITED);
  expect(limiter.taken()).toBe(4);
});
