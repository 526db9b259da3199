import { type Attributes, type Link, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Clock } from '../ports/clock.ts';
import type { Delivery } from '../ports/deliveries.ts';
import type { Transport, TransportVerdict } from '../ports/transport.ts';
import type { Attempt, AttemptResult } from '../webhooks/attempt.ts';
import { succeeded } from '../webhooks/outcome.ts';
import { isDelivering } from '../webhooks/status.ts';
import { counterOf, histogramOf, METRICS, upDownCounterOf } from './metrics.ts';
import type { Scope } from './scope.ts';
import { inSpan, withTracingSuppressed } from './spans.ts';

export interface ObservedAttemptOptions {
  readonly clock: Clock;
  /** The span in which the event of a delivery was appended, if it is still known. */
  readonly appendedIn: (eventId: string) => Link | undefined;
}

/** Measures attempts and traces each, apart from the request that happened to wake the dispatcher. */
export function observedAttempt(
  attempt: Attempt,
  scope: Scope,
  { clock, appendedIn }: ObservedAttemptOptions,
): Attempt {
  const { meter, tracer } = scope;
  const active = upDownCounterOf(meter, METRICS.activeAttempts);
  const lag = histogramOf(meter, METRICS.queueLag);
  const count = outcomeCounters(scope);

  return async (delivery, signal) => {
    // What was handed back is due since it was taken, and nobody knows any more since when that is.
    if (delivery.dueAt > 0) lag.record(Math.max(0, clock.now() - delivery.dueAt) / 1000);
    active.add(1);
    const link = appendedIn(delivery.eventId);
    const attributes = attributesOf(delivery);
    const options = { kind: SpanKind.CLIENT, attributes, ...(link !== undefined && { links: [link] }) };
    const span = tracer.startSpan('svc.webhook.attempt', options, ROOT_CONTEXT);
    try {
      const attempted = await inSpan(span, ROOT_CONTEXT, () => attempt(delivery, signal));
      if (attempted !== undefined) {
        count(attempted);
        tell(span, attempted);
      }
      return attempted;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', signal.aborted ? 'aborted' : 'not-settled');
      throw error;
    } finally {
      active.add(-1);
      span.end();
    }
  };
}

/** A transport whose requests carry no trace of ours: they go to strangers. */
export function untracedTransport(transport: Transport): Transport {
  const post: Transport = (request) => withTracingSuppressed(() => transport(request));
  return Object.assign(post, { close: () => transport.close?.() });
}

function outcomeCounters({ meter }: Scope): (attempted: AttemptResult) => void {
  const duration = histogramOf(meter, METRICS.attemptDuration);
  const retries = counterOf(meter, METRICS.retries);
  const deadLetters = counterOf(meter, METRICS.deadLetters);
  const skipped = counterOf(meter, METRICS.skipped);

  return ({ subscription, verdict, settlement }) => {
    if (verdict !== undefined) {
      const mode = subscription.durable ? 'durable' : 'best-effort';
      duration.record(verdict.durationMs / 1000, { 'svc.webhook.mode': mode, ...outcomeOf(verdict) });
    }
    if (settlement?.kind === 'retry') retries.add(1);
    if (settlement?.kind === 'dead') deadLetters.add(1, { 'svc.webhook.cause': causeOfDeath(verdict) });
    if (settlement?.kind === 'dropped' && verdict === undefined) {
      skipped.add(1, {
        'svc.webhook.cause': isDelivering(subscription.status) ? 'circuit-open' : 'subscription-failed',
      });
    }
  };
}

/** Ids of our own making, and nothing of where the delivery goes or what it says. */
function attributesOf({ deliveryId, webhookId, runId, eventId, eventType, attempts }: Delivery): Attributes {
  return {
    'svc.delivery.id': deliveryId,
    'svc.delivery.attempt': attempts + 1,
    'svc.webhook.id': webhookId,
    'svc.run.id': runId,
    'svc.event.id': eventId,
    'svc.event.type': eventType,
  };
}

function tell(span: Span, { subscription, verdict, settlement }: AttemptResult): void {
  span.setAttribute('svc.webhook.mode', subscription.durable ? 'durable' : 'best-effort');
  span.setAttribute('svc.webhook.settlement', settlement?.kind ?? 'claim-lost');
  if (verdict === undefined) return;
  const outcome = outcomeOf(verdict);
  span.setAttributes(outcome);
  if (verdict.kind === 'answered') span.setAttribute('http.response.status_code', verdict.status);
  if (succeeded(verdict)) return;
  const errorType =
    verdict.kind === 'answered' ? String(verdict.status) : (outcome['svc.webhook.reason'] ?? verdict.kind);
  span.setAttribute('error.type', errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function outcomeOf(verdict: TransportVerdict) {
  if (verdict.kind === 'answered') {
    return {
      'svc.webhook.outcome': succeeded(verdict) ? 'delivered' : 'failed',
      'svc.webhook.status_class': statusClass(verdict.status),
    };
  }
  // Which rule of the guard denied it is for the log: it tells what of the inside a name pointed at.
  if (verdict.kind === 'denied') return { 'svc.webhook.outcome': 'denied' };
  return {
    'svc.webhook.outcome': 'failed',
    'svc.webhook.reason': FAILURES.has(verdict.reason) ? verdict.reason : '_OTHER',
  };
}

/** The guard's, and the host's own `unsigned`; another transport may have reasons of its own. */
const FAILURES: ReadonlySet<string> = new Set([
  ...['timeout', 'aborted', 'dns', 'connect', 'tls', 'protocol', 'unsigned', 'transport'],
]);

/** A status is the receiver's to choose. */
function statusClass(status: number): string {
  return status >= 100 && status <= 599 ? `${Math.floor(status / 100)}xx` : '_OTHER';
}

function causeOfDeath(verdict: TransportVerdict | undefined): string {
  if (verdict === undefined) return 'subscription-failed';
  return verdict.kind === 'answered' && verdict.status === GONE ? 'gone' : 'retries-exhausted';
}

const GONE = 410;
