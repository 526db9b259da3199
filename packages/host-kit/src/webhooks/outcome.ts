import type { Delivery, Settlement } from '../ports/deliveries.ts';
import type { Random } from '../ports/random.ts';
import type { Subscription, SubscriptionState } from '../ports/subscriptions.ts';
import type { TransportVerdict } from '../ports/transport.ts';
import { afterFailure, afterSuccess, type CircuitRule } from './circuit.ts';
import { changesOutage, type FailedAttempt, isTooLong, type OutageRule, outageAfter } from './outage.ts';
import { type RetryPolicy, retryAfterMs, retryDelay } from './retry.ts';
import { isDelivering, statusAfter } from './status.ts';

/** The rules that decide what follows from the outcome of an attempt. */
export interface OutcomeRules {
  readonly retryPolicy: RetryPolicy;
  readonly circuit: CircuitRule & {
    /** The number of failures within the window that marks the subscription failed. */
    readonly failureLimit: number;
    /** In ms. */
    readonly failureWindowMs: number;
  };
  /** How long a dead letter is stored, in ms. */
  readonly deadLetterRetentionMs: number;
  /** The time without a success after which a durable subscription fails, in ms. 0: never. */
  readonly failAfterMs: number;
}

/** Returns whether the receiver answered with a 2xx. Everything else, a redirect included, is a failure. */
export function succeeded(verdict: TransportVerdict): boolean {
  return verdict.kind === 'answered' && verdict.status >= 200 && verdict.status < 300;
}

/**
 * Decides the settlement of a delivery after an attempt. Best effort ends with its one attempt. A durable delivery is
 * retried while the policy allows it and the subscription has not failed; then it goes to the dead letters.
 *
 * @see Interface: Events, Webhook delivery of events
 */
export function settlementAfter(
  { delivery, subscription, verdict, now, date }: FinishedAttempt,
  rules: OutcomeRules,
  random: Random,
): Settlement {
  if (succeeded(verdict)) return { kind: 'delivered' };
  if (!subscription.durable) return { kind: 'dropped' };
  const attempts = delivery.attempts + 1;
  const lastStatus = verdict.kind === 'answered' ? verdict.status : undefined;
  if (attempts >= rules.retryPolicy.maxAttempts || !isDelivering(subscription.status) || lastStatus === GONE) {
    return { kind: 'dead', at: now, expiresAt: now + rules.deadLetterRetentionMs, attempts, lastStatus };
  }
  const delay = retryDelay(rules.retryPolicy, attempts, askedDelay(verdict, date), random);
  return { kind: 'retry', dueAt: now + delay, attempts, lastStatus };
}

/** An attempt that has its verdict and awaits its settlement. */
export interface FinishedAttempt {
  readonly delivery: Delivery;
  /** The subscription as it was when the attempt began. */
  readonly subscription: Subscription;
  readonly verdict: TransportVerdict;
  /** When the attempt ended, in ms of the clock of the store. */
  readonly now: number;
  /** The time of the day then, in ms since the epoch. */
  readonly date: number;
}

/** An attempt, as far as the state of its subscription depends on it. */
export interface EndedAttempt extends FailedAttempt {
  readonly verdict: TransportVerdict;
}

/** Returns whether an attempt can change the state of a subscription. Most do not, and then no row is written. */
export function changesState(subscription: Subscription, attempt: EndedAttempt, rules: OutcomeRules): boolean {
  const { durable, circuit, outage } = subscription;
  if (succeeded(attempt.verdict)) {
    return outage !== undefined || circuit.state !== 'closed' || circuit.consecutiveFailures > 0;
  }
  return !durable || isGone(attempt.verdict) || changesOutage(outage, attempt, outageRule(rules));
}

/**
 * Computes the subscription's state after an attempt. Only best effort has a circuit: no durable delivery is ever
 * dropped. A durable subscription fails when all of its attempts have failed for too long.
 */
export function stateAfter(subscription: Subscription, attempt: EndedAttempt, rules: OutcomeRules): SubscriptionState {
  const { circuit, failures, status } = subscription;
  const { verdict, now } = attempt;
  if (succeeded(verdict)) return { status, failures, circuit: afterSuccess(), outage: undefined };
  const failing = statusAfter(status, 'fail') ?? status;
  const gone = isGone(verdict);
  const outage = outageAfter(subscription.outage, attempt, outageRule(rules));
  if (subscription.durable) {
    const failed = gone || isTooLong(outage, now, outageRule(rules));
    return { status: failed ? failing : status, failures, circuit, outage };
  }
  const rule = rules.circuit;
  // A failure of later than now was recorded by another clock.
  const earlier = failures.map((time) => Math.min(time, now));
  const recent = [...earlier.filter((time) => time > now - rule.failureWindowMs), now].slice(-rule.failureLimit);
  const failed = gone || recent.length >= rule.failureLimit;
  return { status: failed ? failing : status, failures: recent, circuit: afterFailure(circuit, now, rule), outage };
}

function outageRule({ circuit: { failureThreshold }, failAfterMs }: OutcomeRules): OutageRule {
  return { failureThreshold, failAfterMs };
}

/** The status by which a receiver ends its subscription. */
export const GONE = 410;

function isGone(verdict: TransportVerdict): boolean {
  return verdict.kind === 'answered' && verdict.status === GONE;
}

/**
 * Returns the delay that the receiver asked for, in ms. `Retry-After` counts on 409, 429 and 503 alone. With a 409, a
 * receiver says that it already handles the event, and when its claim expires.
 *
 * @see RFC 9110, section 10.2.3; RFC 6585, section 4
 */
function askedDelay(verdict: TransportVerdict, date: number): number | undefined {
  if (verdict.kind !== 'answered' || !MAY_ASK.has(verdict.status)) return undefined;
  return retryAfterMs(verdict.retryAfter, date);
}

const MAY_ASK: ReadonlySet<number> = new Set([409, 429, 503]);
