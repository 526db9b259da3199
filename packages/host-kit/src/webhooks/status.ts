import type { SubscriptionStatus } from '../ports/subscriptions.ts';

/** What moves a subscription. */
export type SubscriptionSignal =
  | 'pause'
  | 'resume'
  /** The receiver said that it is gone, or failed too often. */
  | 'fail'
  /** A delivery to a failed subscription went to the dead letters. */
  | 'dead-letter';

/** The status after a signal; undefined when the signal means nothing there. */
export function statusAfter(status: SubscriptionStatus, signal: SubscriptionSignal): SubscriptionStatus | undefined {
  return TRANSITIONS[status][signal];
}

/** Whether deliveries may still be attempted. */
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
