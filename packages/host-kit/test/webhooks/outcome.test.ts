import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WEBHOOK_DEFAULTS } from '../../src/options/webhook-options.ts';
import type { Circuit, Subscription } from '../../src/ports/subscriptions.ts';
import type { TransportVerdict } from '../../src/ports/transport.ts';
import { admit, afterFailure, afterSuccess, CLOSED } from '../../src/webhooks/circuit.ts';
import { changesState, settlementAfter, stateAfter, succeeded } from '../../src/webhooks/outcome.ts';
import { retryAfterMs, retryDelay } from '../../src/webhooks/retry.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

const RULE = WEBHOOK_DEFAULTS.circuit;
const ADMISSION = { probeMs: 10, cooldownMs: RULE.cooldownMs };
const RULES = {
  retryPolicy: { maxAttempts: 3, backoff: 'fixed', delayMs: 250, maxDelayMs: 30_000 } as const,
  circuit: RULE,
  deadLetterRetentionMs: 1000,
  failAfterMs: 5000,
};
const middle = () => Uint8Array.of(128, 0, 0, 0);
const answered = (status: number, retryAfter?: string): TransportVerdict => ({
  kind: 'answered',
  status,
  retryAfter,
  durationMs: 1,
});
const failed: TransportVerdict = { kind: 'failed', reason: 'timeout', durationMs: 1 };
const ended = (verdict: TransportVerdict, now: number) => ({
  verdict,
  now,
  isDeadLetter: false,
  isOperational: false,
});

describe(
  covers(
    'webhooks.circuit.opens-at-four',
    'webhooks.circuit.success-resets',
    'webhooks.circuit.half-open-after-cooldown',
    'webhooks.circuit.single-probe',
    'webhooks.circuit.probe-success-closes',
    'webhooks.circuit.probe-failure-reopens',
  ),
  () => {
    const failures = (count: number) =>
      Array.from({ length: count }).reduce<Circuit>((circuit) => afterFailure(circuit, 0, RULE), CLOSED);

    test('the fourth failure in a row opens the circuit for the cooldown', () => {
      expect(failures(3)).toEqual({ state: 'closed', consecutiveFailures: 3 });
      expect(failures(4)).toEqual({ state: 'open', until: RULE.cooldownMs });
    });
    test('a success resets the count', () => expect(afterSuccess()).toEqual(CLOSED));
    test('an open circuit admits nothing, and one probe after the cooldown', () => {
      expect(admit(failures(4), RULE.cooldownMs - 1, ADMISSION).admitted).toBe(false);
      const probe = admit(failures(4), RULE.cooldownMs, ADMISSION);
      expect(probe).toEqual({ admitted: true, circuit: { state: 'half-open', until: RULE.cooldownMs + 10 } });
      expect(admit(probe.circuit, RULE.cooldownMs + 5, ADMISSION).admitted).toBe(false);
    });
    test('a failed probe opens the circuit for another cooldown', () => {
      expect(afterFailure({ state: 'half-open', until: 5 }, 100, RULE)).toEqual({
        state: 'open',
        until: 100 + RULE.cooldownMs,
      });
    });
    test('a closed circuit admits, and stays as it is', () => {
      const closed: Circuit = { state: 'closed', consecutiveFailures: 3 };
      expect(admit(closed, 7, ADMISSION)).toEqual({ admitted: true, circuit: closed });
    });
    // Two hosts may read the clock of their store by 2 s differently.
    test.each([
      ['open', RULE.cooldownMs + 2000, false],
      ['open', RULE.cooldownMs + 2001, true],
      ['half-open', ADMISSION.probeMs + 2000, false],
      ['half-open', ADMISSION.probeMs + 2001, true],
    ] as const)('a circuit that is %s for another %d ms admits a probe: %s', (state, ahead, admitted) => {
      expect(admit({ state, until: 500 + ahead }, 500, ADMISSION).admitted).toBe(admitted);
    });
    test('a late failure does not prolong the cooldown', () => {
      expect(afterFailure({ state: 'open', until: 9 }, 5, RULE)).toEqual({ state: 'open', until: 9 });
    });
  },
);

describe(
  covers(
    'webhooks.circuit.hundred-failures-fail',
    'webhooks.delivery.gone-fails-subscription',
    'webhooks.durable.fail-after-hours',
    'webhooks.durable.no-circuit-drop',
  ),
  () => {
    const run = (subscription: Subscription, times: readonly number[]) =>
      times.reduce(
        (current, now) => Object.assign({ ...subscription }, stateAfter(current, ended(failed, now), RULES)),
        subscription,
      );
    const bestEffort = sampleSubscription({ durable: false });

    test('a hundred failures within seven days fail the subscription; over a longer time they do not', () => {
      const hundred = Array.from({ length: 100 }, (_, index) => index);
      expect(run(bestEffort, hundred.slice(1)).status).toBe('active');
      expect(run(bestEffort, hundred).status).toBe('failed');
      expect(
        run(
          bestEffort,
          hundred.map((index) => index * RULE.failureWindowMs),
        ).status,
      ).toBe('active');
    });
    test('a failure at the edge of the window, and one before the last hundred, counts no more', () => {
      const now = RULE.failureWindowMs;
      const failuresAfter = (failures: readonly number[]) =>
        stateAfter(sampleSubscription({ durable: false, failures }), ended(failed, now), RULES).failures;
      expect(failuresAfter([0, 1])).toEqual([1, now]);
      expect(failuresAfter([now + 9])).toEqual([now, now]);
      const many = Array.from({ length: 150 }, (_, index) => index + 1);
      expect(failuresAfter(many)).toEqual([...many.slice(51), now]);
    });
    test.each([{ durable: true }, { durable: false }])(
      'another refusal than 410 does not fail it, with %j',
      (fields) => {
        for (const verdict of [answered(404), answered(500), failed]) {
          expect(stateAfter(sampleSubscription(fields), ended(verdict, 0), RULES).status).toBe('active');
        }
      },
    );
    test('a success keeps the status and the failures, and closes the circuit', () => {
      const circuit = { state: 'half-open', until: 5 } as const;
      const before = sampleSubscription({ durable: false, status: 'paused', failures: [1], circuit });
      expect(stateAfter(before, ended(answered(200), 4000), RULES)).toEqual({
        status: 'paused',
        failures: [1],
        circuit: CLOSED,
        outage: undefined,
      });
    });
    test('410 fails the subscription at once', () =>
      expect(stateAfter(sampleSubscription({}), ended(answered(410), 0), RULES).status).toBe('failed'));
    test.each([
      ['for failAfterHours', [0, 4999, 5000], 'failed'],
      ['for less', [0, 4999], 'active'],
    ])('a durable subscription whose every attempt has failed %s', (_, times, status) => {
      const { status: found, outage } = run(sampleSubscription({}), times);
      expect({ status: found, since: outage?.since }).toEqual({ status, since: 0 });
    });
    test('a success ends the outage, and the next failure begins another', () => {
      const outage = { since: 0, failures: 3, announced: [] };
      const after = stateAfter(sampleSubscription({ outage }), ended(answered(200), 4000), RULES);
      expect(after.outage).toBeUndefined();
      expect(run({ ...sampleSubscription({}), ...after }, [5000, 6000])).toMatchObject({
        status: 'active',
        outage: { since: 5000 },
      });
    });
    test('0 as failAfterMs never fails a subscription', () => {
      const outage = { since: 0, failures: 3, announced: [] };
      const rules = { ...RULES, failAfterMs: 0 };
      expect(stateAfter(sampleSubscription({ outage }), ended(failed, 9e12), rules).status).toBe('active');
    });
    test('a durable subscription has no circuit', () =>
      expect(run(sampleSubscription({}), [1, 2, 3, 4, 5]).circuit).toEqual(CLOSED));
  },
);

describe(covers('webhooks.delivery.success-is-2xx', 'webhooks.delivery.redirect-is-failure'), () => {
  test.each([
    [200, true],
    [204, true],
    [299, true],
    [300, false],
    [199, false],
    [301, false],
    [304, false],
    [400, false],
    [500, false],
  ])('%d: %s', (status, expected) => expect(succeeded(answered(status))).toBe(expected));
});

describe('an attempt writes the state of its subscription', () => {
  const known = { since: 0, failures: RULE.failureThreshold, announced: ['failing'] } as const;
  const opened = { state: 'open', until: 9 } as const;

  test.each<[string, TransportVerdict, Partial<Subscription>, boolean]>([
    ['a success of a sound subscription', answered(200), {}, false],
    ['a success after an outage', answered(200), { outage: known }, true],
    ['a success of a circuit that is not closed', answered(200), { circuit: opened }, true],
    ['a success after one failure', answered(200), { circuit: { state: 'closed', consecutiveFailures: 1 } }, true],
    ['a failure of best effort', failed, { durable: false, outage: known }, true],
    ['a failure within a known outage', failed, { outage: known }, false],
    ['the first failure', failed, {}, true],
    ['another refusal within a known outage', answered(500), { outage: known }, false],
    ['410 within a known outage', answered(410), { outage: known }, true],
  ])('%s: %s', (_name, verdict, fields, expected) => {
    expect(changesState(sampleSubscription(fields), ended(verdict, 1), RULES)).toBe(expected);
  });
});

describe(
  covers('webhooks.durable.retries', 'webhooks.durable.exhausted-to-sink', 'webhooks.best-effort.single-attempt'),
  () => {
    const settle = (attempts: number, subscription: Subscription, verdict: TransportVerdict = failed) =>
      settlementAfter(
        { delivery: sampleDelivery({ attempts }), subscription, verdict, now: 100, date: 100 },
        RULES,
        middle,
      );

    test('retries a durable delivery as often as the policy allows, then dead-letters it', () => {
      const durable = sampleSubscription({});
      expect(settle(0, durable)).toEqual({ kind: 'retry', dueAt: 350, attempts: 1, lastStatus: undefined });
      expect(settle(1, durable, answered(500))).toMatchObject({ kind: 'retry', attempts: 2, lastStatus: 500 });
      expect(settle(2, durable)).toEqual({
        kind: 'dead',
        at: 100,
        expiresAt: 1100,
        attempts: 3,
        lastStatus: undefined,
      });
      expect(settle(2, durable, answered(200))).toEqual({ kind: 'delivered' });
      expect(settle(0, durable, answered(410))).toMatchObject({ kind: 'dead' });
    });
    test.each([
      [409, '2', 2000],
      [409, '60', 30_000],
      [409, undefined, 250],
      [429, '2', 2000],
      [503, '2', 2000],
      [503, 'Thu, 01 Jan 1970 00:00:02 GMT', 1900],
      [500, '2', 250],
      [404, '2', 250],
      [429, undefined, 250],
      [429, 'soon', 250],
    ])('after %d with Retry-After %j, waits %d ms', (status, retryAfter, delay) => {
      const settled = settle(0, sampleSubscription({}), answered(status, retryAfter));
      expect(settled).toEqual({ kind: 'retry', dueAt: 100 + delay, attempts: 1, lastStatus: status });
    });
    test('409 is a failed attempt like others', () => {
      const durable = sampleSubscription({});
      expect(settle(2, durable, answered(409, '2'))).toMatchObject({ kind: 'dead', attempts: 3, lastStatus: 409 });
      expect(settle(0, sampleSubscription({ durable: false }), answered(409, '2'))).toEqual({ kind: 'dropped' });
    });
    test('drops a best-effort delivery after its one attempt', () => {
      expect(settle(0, sampleSubscription({ durable: false }))).toEqual({ kind: 'dropped' });
    });
  },
);

describe(covers('webhooks.durable.backoff', 'webhooks.durable.retry-after'), () => {
  const policy = { maxAttempts: 9, backoff: 'exponential', delayMs: 100, maxDelayMs: 1000 } as const;

  test.each([
    ['none', 1, 0],
    ['fixed', 3, 100],
    ['exponential', 1, 100],
    ['exponential', 3, 400],
    ['exponential', 60, 1000],
  ] as const)('%s, after attempt %d: %d ms', (backoff, attempts, expected) => {
    expect(retryDelay({ ...policy, backoff }, attempts, undefined, middle)).toBeCloseTo(expected, 3);
  });

  test('jitter stays within 10 %, and no delay exceeds maxDelayMs', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 4, maxLength: 4 }),
        fc.integer({ min: 1, max: 100 }),
        (bytes, attempts) => {
          const delay = retryDelay(policy, attempts, undefined, () => bytes);
          const plain = Math.min(100 * 2 ** (attempts - 1), 1000);
          expect(delay).toBeGreaterThanOrEqual(plain * 0.9 - 0.001);
          expect(delay).toBeLessThanOrEqual(Math.min(plain * 1.1 + 0.001, 1000));
        },
      ),
    );
  });

  test.each([
    [0, 90],
    [255, 110],
  ])('jitter of the bytes %d: %d ms', (byte, expected) => {
    expect(retryDelay(policy, 1, undefined, () => new Uint8Array(4).fill(byte))).toBeCloseTo(expected, 3);
  });

  test('honours Retry-After up to maxDelayMs', () => {
    expect(retryDelay(policy, 1, 700, middle)).toBe(700);
    expect(retryDelay(policy, 1, 700_000, middle)).toBe(1000);
  });

  test.each([
    ['7', 7000],
    ['0', 0],
    ['Thu, 01 Jan 1970 00:00:10 GMT', 9000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['-1', undefined],
    ['x7', undefined],
    ['about Thu, 01 Jan 1970 00:00:10 GMT', undefined],
    ['Thu, 01 Jan 1970 00:00:10 GMT (about)', undefined],
    ['1.5', undefined],
    ['tomorrow', undefined],
    ['2026', 2_026_000],
    [undefined, undefined],
  ])('%j asks for %j ms', (value, expected) => expect(retryAfterMs(value, 1000)).toBe(expected));
});
