import {
  type Context,
  context,
  createContextKey,
  INVALID_TRACEID,
  ROOT_CONTEXT,
  type Span,
  trace,
} from '@opentelemetry/api';
import type { Log } from '../ports/log.ts';

/** Runs `work` as a part of a span. Without an SDK there is no span, and nothing to be a part of. */
export function inSpan<T>(span: Span, base: Context, work: () => T): T {
  return span.spanContext().traceId === INVALID_TRACEID ? work() : context.with(trace.setSpan(base, span), work);
}

/**
 * Runs `work` where nothing is traced: instrumentation that the process has loaded makes no span of what it does, and puts no trace
 * context into a request that leaves.
 */
export function withTracingSuppressed<T>(work: () => T): T {
  return context.with(UNTRACED, work);
}

/** The key that SDKs in JavaScript agree on; the API has no name for it. */
const UNTRACED = ROOT_CONTEXT.setValue(createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING'), true);

/** A log whose records name the trace that they are a part of. */
export function tracedLog(log: Log): Log {
  return (record) => {
    const traceId = currentTraceId();
    log(traceId === undefined ? record : { ...record, traceId });
  };
}

/** The trace that is being recorded here, if any. */
function currentTraceId(): string | undefined {
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  return traceId === INVALID_TRACEID ? undefined : traceId;
}

/** Runs `work` as a part of no trace: it goes on long after whoever caused it. */
export function outsideTrace<T>(work: () => T): T {
  return context.with(ROOT_CONTEXT, work);
}
