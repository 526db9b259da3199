import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isDelivering,
  type SubscriptionSignal,
  type SubscriptionStatus,
  statusAfter,
} from '../../src/webhooks/state.ts';

const SIGNALS: readonly SubscriptionSignal[] = ['pause', 'resume', 'fail', 'bury'];

describe(covers('webhooks.durable.subscription-states', 'webhooks.circuit.failed-until-reregistered'), () => {
  test.each<[SubscriptionStatus, SubscriptionSignal, SubscriptionStatus | undefined]>([
    ['active', 'pause', 'paused'],
    ['active', 'resume', 'active'],
    ['active', 'fail', 'failed'],
    ['active', 'bury', undefined],
    ['paused', 'pause', 'paused'],
    ['paused', 'resume', 'active'],
    ['paused', 'fail', 'failed'],
    ['paused', 'bury', undefined],
    ['failed', 'pause', undefined],
    ['failed', 'resume', undefined],
    ['failed', 'fail', undefined],
    ['failed', 'bury', 'dead-lettered'],
    ['dead-lettered', 'pause', undefined],
    ['dead-lettered', 'resume', undefined],
    ['dead-lettered', 'fail', undefined],
    ['dead-lettered', 'bury', 'dead-lettered'],
  ])('%s, %s: %s', (status, signal, next) => expect(statusAfter(status, signal)).toBe(next));

  test('whatever happens, what has failed is never delivered to again', () => {
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
