import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SubscriptionStatus } from '../../src/ports/subscriptions.ts';
import { isDelivering, type SubscriptionSignal, statusAfter } from '../../src/webhooks/status.ts';

const SIGNALS: readonly SubscriptionSignal[] = ['pause', 'resume', 'fail', 'dead-letter'];

describe(covers('webhooks.durable.subscription-states', 'webhooks.circuit.failed-until-reregistered'), () => {
  test.each<[SubscriptionStatus, SubscriptionSignal, SubscriptionStatus | undefined]>([
    ['active', 'pause', 'paused'],
    ['active', 'resume', 'active'],
    ['active', 'fail', 'failed'],
    ['active', 'dead-letter', undefined],
    ['paused', 'pause', 'paused'],
    ['paused', 'resume', 'active'],
    ['paused', 'fail', 'failed'],
    ['paused', 'dead-letter', undefined],
    ['failed', 'pause', undefined],
    ['failed', 'resume', undefined],
    ['failed', 'fail', undefined],
    ['failed', 'dead-letter', 'dead-lettered'],
    ['dead-lettered', 'pause', undefined],
    ['dead-lettered', 'resume', undefined],
    ['dead-lettered', 'fail', undefined],
    ['dead-lettered', 'dead-letter', 'dead-lettered'],
  ])('%s, after %s: %s', (status, signal, next) => expect(statusAfter(status, signal)).toBe(next));

  test('no sequence of signals makes a failed subscription deliver again', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...SIGNALS), { maxLength: 30 }), (signals) => {
        let status: SubscriptionStatus = 'active';
        let hasFailed = false;
        for (const signal of signals) {
          status = statusAfter(status, signal) ?? status;
          hasFailed ||= signal === 'fail';
          expect(isDelivering(status)).toBe(!hasFailed);
        }
      }),
    );
  });
});
