import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TriggerState } from '../ports/triggers.ts';
import { type TriggerSignal, takesMessages, triggerStateAfter } from './transitions.ts';

const SIGNALS: readonly TriggerSignal[] = ['pause', 'resume', 'fail', 'exhaust'];

describe(covers('triggers.subscription.states'), () => {
  test.each<[TriggerState, TriggerSignal, TriggerState | undefined]>([
    ['active', 'pause', 'paused'],
    ['active', 'resume', 'active'],
    ['active', 'fail', 'failed'],
    ['active', 'exhaust', 'dead-lettered'],
    ['paused', 'pause', 'paused'],
    ['paused', 'resume', 'active'],
    ['paused', 'fail', undefined],
    ['paused', 'exhaust', undefined],
    ['failed', 'pause', undefined],
    ['failed', 'resume', undefined],
    ['failed', 'fail', undefined],
    ['failed', 'exhaust', 'dead-lettered'],
    ['dead-lettered', 'pause', undefined],
    ['dead-lettered', 'resume', undefined],
    ['dead-lettered', 'fail', undefined],
    ['dead-lettered', 'exhaust', 'dead-lettered'],
  ])('%s, after %s: %s', (state, signal, next) => expect(triggerStateAfter(state, signal)).toBe(next));

  test.each<[TriggerState, boolean]>([
    ['active', true],
    ['paused', true],
    ['failed', false],
    ['dead-lettered', false],
  ])('a trigger that is %s takes messages: %s', (state, expected) => expect(takesMessages(state)).toBe(expected));

  test('no sequence of signals makes a failed trigger take messages again', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...SIGNALS)), (signals) => {
        let state: TriggerState = 'failed';
        for (const signal of signals) state = triggerStateAfter(state, signal) ?? state;
        expect(takesMessages(state)).toBe(false);
      }),
    );
  });
});
