import { type Attributes, type Link, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Delivery } from '../ports/deliveries.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Transport, TransportVerdict } from '../ports/transport.ts';
import type { Attempt } from '../webhooks/attempt.ts';
import type { AttemptResult } from '../webhooks/attempt-result.ts';
import { succeeded } from '../webhooks/outcome.ts';
import { isDelivering } from '../webhooks/status.ts';
import { counterOf, histogramOf, upDownCounterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';
import { inSpan, withTracingSuppressed } from './spans.ts';

export interface ObservedAttemptOptions {
  readonly storeClock: Pick<StoreClock, 'now'>;
  /** Returns a link to the span that appended an event; undefined when it is no longer known. */
  readonly appendedIn: (eventId: string) => Link | undefined;
}

/** Measures each attempt and gives it a trace of its own, outside that of the request which woke the dispatcher. */
export function observedAttempt(
  attempt: Attempt,
  scope: Scope,
  { storeClock, appendedIn }: ObservedAttemptOptions,
): Attempt {
  const { meter, tracer } = scope;
  const active = upDownCounterOf(meter, METRICS.activeAttempts);
  const lag = histogramOf(meter, METRICS.queueLag);
  const countResult = resultCounter(scope);

  return async (delivery, signal, place) => {
    const lane = { 'svc.webhook.lane': place.lane };
    // A released delivery has `dueAt = 0`: its original due time is lost, so no lag is recorded.
    if (delivery.dueAt > 0) lag.record(Math.max(0, storeClock.now() - delivery.dueAt) / 1000, lane);
    active.add(1, lane);
    const link = appendedIn(delivery.eventId);
    const attributes = attributesOf(delivery);
    const options = { kind: SpanKind.CLIENT, attributes, ...(link !== undefined && { links: [link] }) };
    const span = tracer.startSpan('svc.webhook.attempt', options, ROOT_CONTEXT);
    try {
      const result = await inSpan(span, ROOT_CONTEXT, () => attempt(delivery, signal, place));
      if (result !== undefined) {
        countResult(result);
        describeResult(span, result);
      }
      return result;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', signal.aborted ? 'aborted' : 'not-settled');
      throw error;
    } finally {
      active.add(-1, lane);
      span.end();
    }
  };
}

/** Wraps a transport so that its requests carry no trace context: receivers are strangers. */
export function untracedTransport(transport: Transport): Transport {
  const post: Transport = (request) => withTracingSuppressed(() => transport(request));
  return Object.assign(post, { close: () => transport.close?.() });
}

function resultCounter({ meter }: Scope): (result: AttemptResult) => void {
  const duration = histogramOf(meter, METRICS.attemptDuration);
  const retries = counterOf(meter, METRICS.retries);
  const deadLetters = counterOf(meter, METRICS.deadLetters);
  const skipped = counterOf(meter, METRICS.skipped);
  const held = counterOf(meter, METRICS.held);

  return ({ subscription, verdict, settlement, isHeld }) => {
    if (isHeld) held.add(1);
    if (verdict !== undefined) {
      const mode = subscription.durable ? 'durable' : 'best-effort';
      duration.record(verdict.durationMs / 1000, { 'svc.webhook.mode': mode, ...outcomeOf(verdict) });
    }
    if (settlement?.kind === 'retry') retries.add(1);
    if (settlement?.kind === 'dead') deadLetters.add(1, { 'svc.webhook.cause': deadLetterCause(verdict) });
    if (settlement?.kind === 'dropped' && verdict === undefined) {
      skipped.add(1, {
        'svc.webhook.cause': isDelivering(subscription.status) ? 'circuit-open' : 'subscription-failed',
      });
    }
  };
}

/** Ids that the host made, and the event type. The URL and the body stay out of traces. */
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

function describeResult(span: Span, { subscription, verdict, settlement, isHeld }: AttemptResult): void {
  span.setAttribute('svc.webhook.mode', subscription.durable ? 'durable' : 'best-effort');
  span.setAttribute('svc.webhook.settlement', isHeld ? 'held' : (settlement?.kind ?? 'claim-lost'));
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
  // The guard's rule is for the log alone: it would show which internal address a name resolved to.
  if (verdict.kind === 'denied') return { 'svc.webhook.outcome': 'denied' };
  return {
    'svc.webhook.outcome': 'failed',
    'svc.webhook.reason': FAILURES.has(verdict.reason) ? verdict.reason : '_OTHER',
  };
}

/** The reasons of the egress guard and of the host. Another transport may return any text, which becomes `_OTHER`. */
const FAILURES: ReadonlySet<string> = new Set([
  ...['timeout', 'aborted', 'dns', 'connect', 'tls', 'protocol', 'unsigned', 'transport'],
]);

/** Maps a status, which the receiver chooses freely, to one of six classes. */
function statusClass(status: number): string {
  return status >= 100 && status <= 599 ? `${Math.floor(status / 100)}xx` : '_OTHER';
}

function deadLetterCause(verdict: TransportVerdict | undefined): string {
  if (verdict === undefined) return 'subscription-failed';
  return verdict.kind === 'answered' && verdict.status === GONE ? 'gone' : 'retries-exhausted';
}

const GONE = 410;
