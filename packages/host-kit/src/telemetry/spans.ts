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

/** Runs `work` inside a span. Without an SDK the span is invalid, and `work` runs as it is. */
export function inSpan<T>(span: Span, base: Context, work: () => T): T {
  return span.spanContext().traceId === INVALID_TRACEID ? work() : context.with(trace.setSpan(base, span), work);
}

/**
 * Runs `work` with tracing suppressed: instrumentation that the process has loaded makes no spans of it, and adds no
 * trace context to its outgoing requests.
 */
export function withTracingSuppressed<T>(work: () => T): T {
  return context.with(SUPPRESSED, work);
}

/** The context key by which the JavaScript SDKs suppress tracing. The API does not export it. */
const SUPPRESSED = ROOT_CONTEXT.setValue(createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING'), true);

/** Wraps a log so that its records carry the id of the current trace. */
export function tracedLog(log: Log): Log {
  return (record) => {
    const traceId = currentTraceId();
    log(traceId === undefined ? record : { ...record, traceId });
  };
}

/** Returns the id of the current trace; undefined outside a trace. */
function currentTraceId(): string | undefined {
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  return traceId === INVALID_TRACEID ? undefined : traceId;
}

/** Runs `work` outside any trace: it outlives the request that caused it. */
export function outsideTrace<T>(work: () => T): T {
  return context.with(ROOT_CONTEXT, work);
}
