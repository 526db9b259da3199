import { isSpanContextValid, type Link, type SpanContext, trace } from '@opentelemetry/api';
import { EVENT_TYPES } from '../events/event-types.ts';
import type { RunEvent } from '../ports/events.ts';
import { counterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Counts events, and the runs that they start and end. */
export function eventCounter({ meter }: Scope): (event: RunEvent) => void {
  const appended = counterOf(meter, METRICS.eventsAppended);
  const started = counterOf(meter, METRICS.runsStarted);
  const ended = counterOf(meter, METRICS.runsEnded);

  return ({ type }) => {
    // An engine may append any type. Only known ones become attributes, so the number of series is bounded.
    appended.add(1, { 'svc.event.type': EVENT_TYPES.has(type) ? type : '_OTHER' });
    if (type === 'run.started') started.add(1);
    const status = STATUS_AFTER[type];
    if (status !== undefined) ended.add(1, { 'svc.run.status': status });
  };
}

const STATUS_AFTER: Readonly<Record<string, string>> = {
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

/** Remembers the span in which each event was appended, so that the spans of its attempts can link to it. */
export interface AppendedSpans {
  /** Remembers the active span, if there is one. */
  remember(eventId: string): void;
  of(eventId: string): Link | undefined;
}

/** Keeps the latest 10 000 in memory. An attempt at an older event, or at one of another host, has no link. */
export function appendedSpans(): AppendedSpans {
  const spans = new Map<string, SpanContext>();
  return {
    remember(eventId) {
      const span = trace.getActiveSpan()?.spanContext();
      if (span === undefined || !isSpanContextValid(span)) return;
      spans.set(eventId, span);
      const [oldest] = spans.keys();
      if (spans.size > MAX_REMEMBERED && oldest !== undefined) spans.delete(oldest);
    },
    of(eventId) {
      const context = spans.get(eventId);
      return context && { context };
    },
  };
}

const MAX_REMEMBERED = 10_000;
