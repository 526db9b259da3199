import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Outage, outageLength, outagePaused, outageResumed } from '../../src/ports/outage.ts';
import type { StoreClock } from '../../src/ports/store-clock.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { moveSubscription, type OperatorActionOptions } from '../../src/webhooks/operator-actions.ts';
import { isTooLong, outageAfter } from '../../src/webhooks/outage.ts';
import { sampleSubscription } from './samples.ts';

const RULE = { failureThreshold: 4, failAfterMs: 1000 };
const FAILED = { isDeadLetter: false, isOperational: false };

describe('the length of an outage', () => {
  test('leaves the pauses out, and its beginning stays the first failed attempt', () => {
    let outage: Outage | undefined = outageAfter(undefined, { ...FAILED, now: 100 }, RULE);
    outage = outagePaused(outage, 400);
    expect(outage && outageLength(outage, 900), 'during a pause').toBe(300);
    outage = outageResumed(outage, 1400);
    expect(outage).toMatchObject({ since: 100, pausedMs: 1000 });
    if (outage === undefined) return;
    outage = outageAfter(outage, { ...FAILED, now: 2099 }, RULE);
    expect([outage.since, isTooLong(outage, 2099, RULE), isTooLong(outage, 2100, RULE)]).toEqual([100, false, true]);
  });

  test('is that of a subscription without pauses, less the pauses, in every order of them', () => {
    const steps = fc.array(
      fc.record({ after: fc.nat(1000), what: fc.constantFrom('fail' as const, 'pause' as const, 'resume' as const) }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(steps, (taken) => {
        let now = 0;
        let pausedSince: number | undefined;
        let paused = 0;
        let outage: Outage | undefined = outageAfter(undefined, { ...FAILED, now }, RULE);
        for (const { after, what } of taken) {
          now += after;
          if (what === 'fail' && pausedSince === undefined) outage = outageAfter(outage, { ...FAILED, now }, RULE);
          if (what === 'pause' && pausedSince === undefined) {
            outage = outagePaused(outage, now);
            pausedSince = now;
          }
          if (what === 'resume' && pausedSince !== undefined) {
            outage = outageResumed(outage, now);
            paused += now - pausedSince;
            pausedSince = undefined;
          }
        }
        const open = pausedSince === undefined ? 0 : now - pausedSince;
        expect(outage?.since).toBe(0);
        expect(outage && outageLength(outage, now)).toBe(now - paused - open);
      }),
    );
  });

  test('begins with the resume when an attempt from before the pause has begun the outage within it', () => {
    const begun = outageAfter(outagePaused(undefined, 100), { ...FAILED, now: 200 }, RULE);
    const resumed = outageResumed(begun, 5000);
    expect(resumed && outageLength(resumed, 5000)).toBe(0);
    expect(resumed && isTooLong(resumed, 5999, RULE)).toBe(false);
    expect(resumed && isTooLong(resumed, 6000, RULE)).toBe(true);
  });

  test('never comes to its end later because a clock stepped back within a pause', () => {
    const paused = outagePaused({ since: 0, failures: 1, announced: [] }, 500);
    expect(outageResumed(paused, 200)).toMatchObject({ since: 0, pausedMs: 0 });
  });
});

test('an owner who pauses and resumes again and again does not prolong the outage', async () => {
  const store = memoryStore();
  const outage: Outage = { since: 0, failures: 4, announced: ['failing'] };
  await store.transaction((transaction) => store.subscriptions.insert(sampleSubscription({ outage }), transaction));
  let now = 0;
  const options: OperatorActionOptions = {
    store,
    clock: { now: () => now, monotonic: () => now, after: () => () => {} },
    storeClock: { now: () => now } as StoreClock,
    dispatcher: { wake() {} } as OperatorActionOptions['dispatcher'],
    recordAudit: async () => {},
    stateChanged: () => {},
  };
  const { tenant, mode } = sampleSubscription({});
  const owner = { id: 'p_1', tenancy: { tenant, mode, workspaces: 'all' } } as Parameters<typeof moveSubscription>[1];
  let moved: Awaited<ReturnType<typeof moveSubscription>> | undefined;
  for (let times = 0; times < 10; times++) {
    now += 90;
    // Repeated requests change nothing.
    for (const _ of ['first', 'again']) await moveSubscription(options, owner, 'whk_1', 'pause');
    now += 10;
    for (const _ of ['first', 'again']) moved = await moveSubscription(options, owner, 'whk_1', 'resume');
  }
  expect(moved).toMatchObject({ status: 'active', outage: { since: 0, pausedMs: 100 } });
  expect(moved?.outage && outageLength(moved.outage, now)).toBe(900);
});
