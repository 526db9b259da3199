import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api';
import type { Asked, RequestWatch } from '../http/watch.ts';
import { histogramOf, upDownCounterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';
import { inSpan } from './spans.ts';

/**
 * Measures and traces requests by operation, major and status.
 *
 * @see OpenTelemetry, Semantic conventions for HTTP
 */
export function requestWatch({ meter, tracer, incomingTraces }: Scope): RequestWatch {
  const duration = histogramOf(meter, METRICS.requestDuration);
  const active = upDownCounterOf(meter, METRICS.activeRequests);

  return async (request, asked, serve) => {
    const began = performance.now();
    const shape = { 'http.request.method': methodOf(request), 'url.scheme': schemeOf(request) };
    const about = { ...shape, ...attributesOf(asked) };
    const { base, options } = placeOf(request);
    const span = tracer.startSpan(nameOf(about), { ...options, attributes: about }, base);
    active.add(1, shape);
    let status = 500;
    try {
      const answer = await inSpan(span, base, serve);
      status = answer.status;
      return answer;
    } finally {
      const outcome = outcomeOf(status);
      active.add(-1, shape);
      duration.record((performance.now() - began) / 1000, { ...about, ...outcome });
      span.setAttributes(outcome);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    }
  };

  /**
   * Chooses the parent of a request's span. An instrumentation of the server may have begun a span around the host:
   * that is the parent. Otherwise it is the caller's span, or none, with a link to the caller's.
   */
  function placeOf(request: Request): { base: typeof ROOT_CONTEXT; options: SpanOptions } {
    const base = context.active();
    if (trace.getSpan(base) !== undefined) return { base, options: { kind: SpanKind.INTERNAL } };
    const options = { kind: SpanKind.SERVER };
    // Only the span context is read: baggage would be passed on as the caller wrote it.
    const caller = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, request.headers, HEADERS));
    if (caller === undefined) return { base, options };
    if (incomingTraces === 'link') {
      // Only the ids are linked: the trace state is free text of the caller.
      const { traceId, spanId, traceFlags } = caller;
      return { base, options: { ...options, links: [{ context: { traceId, spanId, traceFlags, isRemote: true } }] } };
    }
    return { base: trace.setSpanContext(base, caller), options };
  }
}

const HEADERS: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
};

function attributesOf({ operation, route, major }: Asked): Attributes {
  return {
    ...(route !== undefined && { 'http.route': route }),
    ...(operation !== undefined && { 'svc.operation': operation }),
    ...(major !== undefined && { 'svc.major': major }),
  };
}

function outcomeOf(status: number): Attributes {
  return { 'http.response.status_code': status, ...(status >= 500 && { 'error.type': String(status) }) };
}

function nameOf(about: Attributes): string {
  const method = about['http.request.method'] === OTHER ? 'HTTP' : about['http.request.method'];
  return about['http.route'] === undefined ? `${method}` : `${method} ${about['http.route']}`;
}

/** Maps the method, which may be any text of the caller, to a closed set. */
function methodOf({ method }: Request): string {
  return METHODS.has(method) ? method : OTHER;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);

/** The value that the semantic conventions give to anything outside a closed set. */
const OTHER = '_OTHER';

function schemeOf({ url }: Request): string {
  return url.startsWith('https:') ? 'https' : 'http';
}
