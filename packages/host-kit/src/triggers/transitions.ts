import type { TriggerState } from '../ports/triggers.ts';

/**
 * A signal to a trigger. `fail`: the attempts of several messages in a row were exhausted. `exhaust`: a message arrived
 * after that.
 */
export type TriggerSignal = 'pause' | 'resume' | 'fail' | 'exhaust';

/**
 * Returns the state of a trigger after a signal; undefined when the state does not take the signal. A repeated pause or
 * resume changes nothing. A trigger that has failed ends only by another registration.
 *
 * @see Interface: States and transitions, Durable subscription (trigger bridge)
 */
export function triggerStateAfter(state: TriggerState, signal: TriggerSignal): TriggerState | undefined {
  return TRANSITIONS[state][signal];
}

/** Returns whether the messages of a trigger start runs, now or after a resume. */
export function takesMessages(state: TriggerState): boolean {
  return state === 'active' || state === 'paused';
}

const TRANSITIONS: Readonly<Record<TriggerState, { readonly [Signal in TriggerSignal]?: TriggerState }>> = {
  active: { pause: 'paused', resume: 'active', fail: 'failed', exhaust: 'dead-lettered' },
  paused: { pause: 'paused', resume: 'active' },
  failed: { exhaust: 'dead-lettered' },
  'dead-lettered': { exhaust: 'dead-lettered' },
};
