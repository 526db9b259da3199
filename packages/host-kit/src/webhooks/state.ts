/**
 * Where a subscription stands. `active` is delivered to; `paused` keeps what comes and delivers nothing; `failed` and
 * `dead-lettered` are delivered to no more, and what comes goes straight to the dead letters. From those two only registering again
 * leads out.
 *
 * @see Interface: States and transitions, Durable subscription
 */
export type SubscriptionStatus = 'active' | 'paused' | 'failed' | 'dead-lettered';

/** What moves a subscription. */
export type SubscriptionSignal =
  | 'pause'
  | 'resume'
  /** The receiver said that it is gone, or failed too often. */
  | 'fail'
  /** A delivery to a failed subscription went to the dead letters. */
  | 'bury';

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
  failed: { bury: 'dead-lettered' },
  'dead-lettered': { bury: 'dead-lettered' },
};
