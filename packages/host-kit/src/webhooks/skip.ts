import type { ClaimedDelivery, Settlement } from '../ports/deliveries.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Subscription, SubscriptionState } from '../ports/subscriptions.ts';
import { type AttemptResult, attemptLogRecord, attemptRecord, type Skipped } from './attempt-result.ts';
import type { OutcomeRules } from './outcome.ts';
import type { EndedDelivery, Settle } from './settle.ts';
import { statusAfter } from './status.ts';

/**
 * Ends deliveries without an attempt, and records it. Both resolve with undefined when the claim was lost meanwhile.
 */
export interface Skip {
  /** Drops a best-effort delivery: the circuit is open, or the subscription has failed. */
  drop(delivery: ClaimedDelivery, subscription: Subscription): Promise<AttemptResult | undefined>;
  /** Moves a durable delivery of a failed subscription to the dead letters. */
  deadLetter(delivery: ClaimedDelivery, subscription: Subscription): Promise<AttemptResult | undefined>;
}

export interface SkipOptions extends Pick<HostPorts, 'clock' | 'log'> {
  /** Dead letters are ordered by it, and expire by it. */
  readonly storeClock: Pick<StoreClock, 'now'>;
  readonly settle: Settle;
  readonly rules: Pick<OutcomeRules, 'deadLetterRetentionMs'>;
}

export function skipping({ settle, clock, storeClock, log, rules }: SkipOptions): Skip {
  return {
    drop: (delivery, subscription) => settleUnsent(delivery, subscription, { kind: 'dropped' }, 'skipped'),
    async deadLetter(delivery, subscription) {
      const { attempts } = delivery;
      const now = storeClock.now();
      const expiresAt = now + rules.deadLetterRetentionMs;
      const settlement = { kind: 'dead', at: now, expiresAt, attempts, lastStatus: undefined } as const;
      const nextState = subscription.status === 'failed' ? deadLettered : undefined;
      return settleUnsent(delivery, subscription, settlement, 'subscription-failed', nextState);
    },
  };

  async function settleUnsent(
    delivery: ClaimedDelivery,
    subscription: Subscription,
    settlement: Settlement,
    reason: Skipped['reason'],
    nextState?: EndedDelivery['nextState'],
  ): Promise<AttemptResult | undefined> {
    const skipped = { kind: 'skipped', reason, durationMs: 0 } as const;
    const attempt = attemptRecord(delivery, skipped, clock.now());
    const claimHeld = await settle({ delivery, settlement, attempt, nextState, isSent: false });
    if (!claimHeld) return undefined;
    log(attemptLogRecord(delivery, subscription, skipped, settlement.kind));
    return { subscription, verdict: undefined, settlement };
  }
}

function deadLettered({ status, circuit, failures, outage }: Subscription): SubscriptionState {
  const told = outage === undefined || outage.announced.includes('dead-lettering');
  const announced = told ? outage : { ...outage, announced: [...outage.announced, 'dead-lettering' as const] };
  return { status: statusAfter(status, 'dead-letter') ?? status, circuit, failures, outage: announced };
}
