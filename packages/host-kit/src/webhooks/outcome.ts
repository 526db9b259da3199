import type { Delivery, Settlement } from '../ports/deliveries.ts';
import type { Random } from '../ports/random.ts';
import type { Subscription, SubscriptionState } from '../ports/subscriptions.ts';
import type { TransportVerdict } from '../ports/transport.ts';
import { afterFailure, afterSuccess, type CircuitRule } from './circuit.ts';
import { type RetryPolicy, retryAfterMs, retryDelay } from './retry.ts';
import { isDelivering, statusAfter } from './status.ts';

/** What the outcome of an attempt is judged by. */
export interface OutcomeRules {
  readonly retryPolicy: RetryPolicy;
  readonly circuit: CircuitRule & {
    /** Failures inside the window that mark the subscription failed. */
    readonly failureLimit: number;
    readonly failureWindowMs: number;
  };
  readonly deadLetterRetentionMs: number;
}

/** Any 2xx delivers; everything else, a redirect included, is a failure. */
export function succeeded(verdict: TransportVerdict): boolean {
  return verdict.kind === 'answered' && verdict.status >= 200 && verdict.status < 300;
}

/**
 * What becomes of a delivery after an attempt. Best effort ends with its one attempt. Durable deliveries are tried again while
 * the policy allows and the subscription has not failed, and then go to the dead letters.
 *
 * @see Interface: Events, Webhook delivery of events
 */
export function settlementAfter(
  { delivery, subscription, verdict, now }: FinishedAttempt,
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
  const delay = retryDelay(rules.retryPolicy, attempts, askedDelay(verdict, now), random);
  return { kind: 'retry', dueAt: now + delay, attempts, lastStatus };
}

export interface FinishedAttempt {
  readonly delivery: Delivery;
  readonly subscription: Subscription;
  readonly verdict: TransportVerdict;
  readonly now: number;
}

/** Whether an outcome can change the health of a subscription; most do not, which spares the write. */
export function changesState({ durable, circuit }: Subscription, verdict: TransportVerdict): boolean {
  if (succeeded(verdict)) return circuit.state !== 'closed' || circuit.consecutiveFailures > 0;
  return !durable || isGone(verdict);
}

/**
 * The subscription's health after an attempt. The circuit belongs to best effort alone: a durable delivery is never dropped
 * by one.
 */
export function stateAfter(
  subscription: Subscription,
  verdict: TransportVerdict,
  now: number,
  { circuit: rule }: OutcomeRules,
): SubscriptionState {
  const { circuit, failures, status } = subscription;
  if (succeeded(verdict)) return { status, failures, circuit: afterSuccess() };
  const failing = statusAfter(status, 'fail') ?? status;
  const gone = isGone(verdict);
  if (subscription.durable) return { status: gone ? failing : status, failures, circuit };
  const recent = [...failures.filter((time) => time > now - rule.failureWindowMs), now].slice(-rule.failureLimit);
  const failed = gone || recent.length >= rule.failureLimit;
  return { status: failed ? failing : status, failures: recent, circuit: afterFailure(circuit, now, rule) };
}

const GONE = 410;

function isGone(verdict: TransportVerdict): boolean {
  return verdict.kind === 'answered' && verdict.status === GONE;
}

/** `Retry-After` is heeded where RFC 9110 and RFC 6585 give it a meaning for a client that should slow down. */
function askedDelay(verdict: TransportVerdict, now: number): number | undefined {
  if (verdict.kind !== 'answered' || (verdict.status !== 429 && verdict.status !== 503)) return undefined;
  return retryAfterMs(verdict.retryAfter, now);
}
