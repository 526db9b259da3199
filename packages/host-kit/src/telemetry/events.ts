import { isSpanContextValid, type Link, type SpanContext, trace } from '@opentelemetry/api';
import { isEventTypeV2 } from '@svc/webhook-verify/events';
import type { RunEvent } from '../ports/events.ts';
import { counterOf, METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Counts events and the runs that they start and end. */
export function eventCounter({ meter }: Scope): (event: RunEvent) => void {
  const appended = counterOf(meter, METRICS.eventsAppended);
  const started = counterOf(meter, METRICS.runsStarted);
  const ended = counterOf(meter, METRICS.runsEnded);

  return ({ type }) => {
    // An engine may have types of its own.
    appended.add(1, { 'svc.event.type': isEventTypeV2(type) ? type : '_OTHER' });
    if (type === 'run.started') started.add(1);
    const status = ENDS[type];
    if (status !== undefined) ended.add(1, { 'svc.run.status': status });
  };
}

const ENDS: Readonly<Record<string, string>> = {
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

/** Remembers in which span an event was appended, so that the attempts to deliver it can point there. */
export interface AppendedSpans {
  remember(eventId: string): void;
  of(eventId: string): Link | undefined;
}

/** The latest ones, in memory: a retry of long ago, and one of another host, points nowhere. */
export function appendedSpans(): AppendedSpans {
  const spans = new Map<string, SpanContext>();
  return {
    remember(eventId) {
      const span = trace.getActiveSpan()?.spanContext();
      if (span === undefined || !isSpanContextValid(span)) return;
      spans.set(eventId, span);
      const [oldest] = spans.keys();
      if (spans.size > REMEMBERED && oldest !== undefined) spans.delete(oldest);
    },
    of(eventId) {
      const context = spans.get(eventId);
      return context && { context };
    },
  };
}

const REMEMBERED = 10_000;
