import type { AttemptPhase, AttemptRecord } from '../ports/attempts.ts';
import type { Delivery, Settlement } from '../ports/deliveries.ts';
import type { LogRecord } from '../ports/log.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { TransportVerdict } from '../ports/transport.ts';
import { succeeded } from './outcome.ts';

/** The result of one attempt, once it is durable. */
export interface AttemptResult {
  /** The subscription as it was when the attempt began. */
  readonly subscription: Subscription;
  /** Undefined when nothing was sent. */
  readonly verdict: TransportVerdict | undefined;
  /** Undefined when the claim was lost during the attempt: its new holder settles the delivery. */
  readonly settlement: Settlement | undefined;
  /** The host could not sign the delivery, which waits without a counted attempt. */
  readonly isHeld?: true;
}

/** The verdict on a delivery that ended without an attempt. */
export interface Skipped {
  readonly kind: 'skipped';
  readonly reason: 'skipped' | 'subscription-failed';
  readonly durationMs: 0;
}

/** Makes the entry of the attempt log that an operator sees. */
export function attemptRecord(
  delivery: Delivery,
  verdict: TransportVerdict | Skipped,
  at: number,
  phases: readonly AttemptPhase[] = [],
): AttemptRecord {
  const { deliveryId, webhookId, runId, sequence, eventType, attempts } = delivery;
  const isAnswer = verdict.kind === 'answered';
  return {
    deliveryId,
    webhookId,
    runId,
    sequence,
    eventType,
    attempt: attempts + 1,
    at,
    durationMs: verdict.durationMs,
    outcome: isAnswer ? (succeeded(verdict) ? 'delivered' : 'failed') : verdict.kind,
    status: isAnswer ? verdict.status : undefined,
    reason: isAnswer ? undefined : verdict.reason,
    ...(phases.length > 0 && { phases }),
  };
}

/** Makes the log record of an attempt: of the URL it has the origin alone, and it has neither body nor secret. */
export function attemptLogRecord(
  delivery: Delivery,
  { tenant, url }: Subscription,
  verdict: TransportVerdict | Skipped,
  settlement: Settlement['kind'] | 'claim-lost',
): LogRecord {
  return {
    level: settlement === 'delivered' ? 'info' : 'warn',
    event: 'delivery.attempted',
    deliveryId: delivery.deliveryId,
    webhookId: delivery.webhookId,
    tenant,
    eventType: delivery.eventType,
    attempt: delivery.attempts + 1,
    settlement,
    ...(settlement !== 'delivered' && { destination: originOf(url) }),
    ...loggedOutcome(verdict),
  };
}

/** Returns the scheme, name and port of a URL. The rest of it may be a secret of the receiver. */
export function originOf(url: string): string {
  return URL.parse(url)?.origin ?? '';
}

function loggedOutcome(verdict: TransportVerdict | Skipped) {
  if (verdict.kind === 'skipped') return { reason: verdict.reason };
  const durationMs = Math.round(verdict.durationMs * 10) / 10;
  return verdict.kind === 'answered'
    ? { status: verdict.status, durationMs }
    : { outcome: verdict.kind, reason: verdict.reason, durationMs };
}
