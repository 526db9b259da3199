import type { SubscriptionStatus } from '../ports/subscriptions.ts';

/** A signal that may change the status of a subscription. */
export type SubscriptionSignal =
  | 'pause'
  | 'resume'
  /** The receiver answered 410, or failed too often. */
  | 'fail'
  /** A delivery to a failed subscription went to the dead letters. */
  | 'dead-letter';

/** Returns the status after a signal; undefined when the status does not accept the signal. */
export function statusAfter(status: SubscriptionStatus, signal: SubscriptionSignal): SubscriptionStatus | undefined {
  return TRANSITIONS[status][signal];
}

/** Returns whether deliveries are still attempted: at once, or after a resume. */
export function isDelivering(status: SubscriptionStatus): boolean {
  return status === 'active' || status === 'paused';
}

const TRANSITIONS: Readonly<
  Record<SubscriptionStatus, Readonly<Partial<Record<SubscriptionSignal, SubscriptionStatus>>>>
> = {
  active: { pause: 'paused', resume: 'active', fail: 'failed' },
  paused: { pause: 'paused', resume: 'active', fail: 'failed' },
  failed: { 'dead-letter': 'dead-lettered' },
  'dead-lettered': { 'dead-letter': 'dead-lettered' },
};
