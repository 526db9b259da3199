import { createServer } from 'node:http';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { egressPolicy } from '@svc/egress-guard';
import { guardedPost } from '@svc/egress-guard/post';
import { covers } from '@svc/tools/covers';
import { afterEach, describe, expect, test } from 'vitest';
import { CLEANUP, eventually, type WatchedHost, watchedHost } from './watched-host.ts';

afterEach(async () => {
  for (const clean of CLEANUP.splice(0)) await clean();
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };

const spansOf = ({ spans }: WatchedHost, name: string): readonly ReadableSpan[] =>
  spans().filter((span) => span.name === name);
const only = (spans: readonly ReadableSpan[]): ReadableSpan => {
  const [span, ...others] = spans;
  if (span === undefined || others.length > 0) throw new Error(`There are ${spans.length} spans.`);
  return span;
};

describe('the span of a request', () => {
  test('is of kind SERVER, and named after the method and the route template', async () => {
    const watched = await watchedHost();
    await watched.call('/v1/runs/run_1');
    const span = only(watched.spans());
    expect({ name: span.name, kind: span.kind, status: span.status.code }).toEqual({
      name: 'GET /v1/runs/{runId}',
      kind: SpanKind.SERVER,
      status: SpanStatusCode.UNSET,
    });
    expect(span.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 404,
      'http.route': '/v1/runs/{runId}',
      'url.scheme': 'http',
      'svc.operation': 'readRun',
      'svc.major': 1,
    });
  });

  test('is in the trace of the caller', async () => {
    const watched = await watchedHost();
    await watched.call('/v1/runs/run_1', { headers: CALLER });
    const span = only(watched.spans());
    expect(span.spanContext().traceId).toBe(TRACE);
    expect(span.parentSpanContext).toMatchObject({ spanId: 'b7ad6b7169203331', isRemote: true });
  });

  test('is in a new trace with a link to the caller, when incomingTraces is link', async () => {
    const watched = await watchedHost();
    const { telemetry } = watched;
    const linking = await watchedHost({ ports: { telemetry: { ...telemetry, incomingTraces: 'link' } } });
    await linking.call('/v1/runs/run_1', { headers: { ...CALLER, tracestate: 'a=text-of-a-stranger' } });
    const span = only(watched.spans());
    expect(span.spanContext().traceId).not.toBe(TRACE);
    expect(span.spanContext().traceState).toBeUndefined();
    expect(span.parentSpanContext).toBeUndefined();
    expect(span.links.map(({ context }) => context)).toEqual([
      { traceId: TRACE, spanId: 'b7ad6b7169203331', traceFlags: 1, isRemote: true },
    ]);
  });

  test('is a child of the span of a server instrumentation', async () => {
    const watched = await watchedHost();
    const tracer = watched.telemetry.tracerProvider.getTracer('a server');
    await tracer.startActiveSpan('outer', async (outer) => {
      await watched.call('/v1/runs/run_1', { headers: CALLER });
      outer.end();
      const span = only(spansOf(watched, 'GET /v1/runs/{runId}'));
      expect(span.kind).toBe(SpanKind.INTERNAL);
      expect(span.parentSpanContext?.spanId).toBe(outer.spanContext().spanId);
    });
  });

  test('has its trace id in the log', async () => {
    const traces: unknown[] = [];
    const watched = await watchedHost({
      ports: { log: ({ event, traceId }) => event === 'request' && traces.push(traceId) },
    });
    await watched.call('/v1/runs/run_1');
    await watched.call('/v1/runs/run_1', { headers: CALLER });
    expect(traces).toEqual(watched.spans().map((span) => span.spanContext().traceId));
    expect(traces[1]).toBe(TRACE);
  });
});

describe(covers('auth.audit.trace-context-no-evidence'), () => {
  const HEADERS = [
    ['without trace context', {}],
    ['in a sampled trace', CALLER],
    ['in an unsampled trace', { traceparent: CALLER.traceparent.replace(/01$/, '00') }],
    ['with a malformed trace context', { traceparent: '00-zz-zz-01', tracestate: 'admin=true' }],
    ['with two trace contexts', { traceparent: `${CALLER.traceparent}, ${CALLER.traceparent}` }],
    [
      'with claims in its trace state and baggage',
      { ...CALLER, tracestate: 'authorization=operator', baggage: 'scope=admin,tenant=other' },
    ],
  ] as const;

  test.each(HEADERS)('authorizes a request %s like any other', async (_title, headers) => {
    const watched = await watchedHost();
    const runId = await watched.run();
    const decided = async (path: string, more: Record<string, string> = {}) =>
      (await watched.call(path, { headers: { ...headers, ...more } })).status;
    expect(await decided(`/v1/runs/${runId}`)).toBe(200);
    expect(await decided(`/v1/runs/${runId}`, { authorization: '' })).toBe(401);
    expect(await decided(`/v1/runs/${runId}`, { authorization: 'Bearer of-nobody-whom-the-host-knows' })).toBe(401);
    expect(await decided('/host/example/byok/secrets')).toBe(403);
    expect(await decided('/v1/runs/run_of_nobody')).toBe(404);
  });

  test('the engine works in the trace of the request', async () => {
    const contexts: (string | undefined)[] = [];
    const watched = await watchedHost({
      engine: {
        async execute() {
          contexts.push(trace.getActiveSpan()?.spanContext().traceId);
          return { status: 'completed', outputs: {} };
        },
      },
    });
    await watched.call('/v1/runs', { body: { workflowId: 'any' }, headers: CALLER });
    await eventually(() => contexts.length > 0);
    expect(contexts).toEqual([TRACE]);
  });
});

describe('the span of an attempt', () => {
  test('is in a new trace, with a link to the span that appended its event', async () => {
    const watched = await watchedHost({ webhooks: { durable: true } });
    const webhookId = await watched.register();
    await watched.call('/v1/runs', { body: { workflowId: 'echo' }, headers: CALLER });
    await eventually(() => spansOf(watched, 'svc.webhook.attempt').length === 1);
    const span = only(spansOf(watched, 'svc.webhook.attempt'));
    const request = only(spansOf(watched, 'POST /v1/runs'));
    expect(span.kind).toBe(SpanKind.CLIENT);
    expect(span.parentSpanContext).toBeUndefined();
    expect(span.spanContext().traceId).not.toBe(TRACE);
    expect(span.links.map(({ context }) => context.spanId)).toEqual([request.spanContext().spanId]);
    expect(span.attributes).toEqual({
      'svc.delivery.id': expect.stringMatching(/^dlv_/),
      'svc.delivery.attempt': 1,
      'svc.webhook.id': webhookId,
      'svc.run.id': expect.stringMatching(/^run_/),
      'svc.event.id': expect.stringMatching(/^evt_/),
      'svc.event.type': 'run.completed',
      'svc.webhook.mode': 'durable',
      'svc.webhook.outcome': 'delivered',
      'svc.webhook.status_class': '2xx',
      'svc.webhook.settlement': 'delivered',
      'http.response.status_code': 204,
    });
  });

  test('has an error when the attempt failed', async () => {
    const watched = await watchedHost({
      webhooks: { durable: true, retryPolicy: { maxAttempts: 1, backoff: 'none', delayMs: 0, maxDelayMs: 0 } },
    });
    watched.verdict = { kind: 'failed', reason: 'tls' };
    await watched.register();
    await watched.run();
    await eventually(() => spansOf(watched, 'svc.webhook.attempt').length === 1);
    const { status, attributes } = only(spansOf(watched, 'svc.webhook.attempt'));
    expect(status).toEqual({ code: SpanStatusCode.ERROR });
    expect(attributes).toMatchObject({ 'error.type': 'tls', 'svc.webhook.settlement': 'dead' });
  });

  test('does not reach the receiver, with any instrumentation that the process has loaded', async () => {
    const received: NodeJS.Dict<string | string[]>[] = [];
    const server = createServer((request, response) => {
      received.push(request.headers);
      request.resume().on('end', () => response.writeHead(204).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    CLEANUP.push(async () => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const egress = egressPolicy({ allowLoopback: true });
    const watched = await watchedHost({ egress, ports: { transport: guardedPost({ policy: egress }) } });
    const instrumentation = new UndiciInstrumentation();
    instrumentation.setTracerProvider(watched.telemetry.tracerProvider);
    CLEANUP.push(async () => instrumentation.disable());

    const url = `http://127.0.0.1:${port}/edelweiss`;
    // Proves that the instrumentation works: a plain request carries the trace context.
    await watched.telemetry.tracerProvider.getTracer('a test').startActiveSpan('outer', async (span) => {
      await (await fetch(url, { method: 'POST', body: '{}' })).text();
      span.end();
    });
    expect(received[0]).toHaveProperty('traceparent');
    expect(JSON.stringify(watched.spans().map(({ attributes }) => attributes))).toContain('edelweiss');

    const before = watched.spans().length;
    await watched.register({ url });
    await watched.call('/v1/runs', { body: { workflowId: 'echo' }, headers: { ...CALLER, baggage: 'user=one' } });
    await eventually(() => spansOf(watched, 'svc.webhook.attempt').length === 1);
    expect(received.length).toBe(2);
    const names = Object.keys(received[1] ?? {});
    expect(names).toContain('svc-signature');
    expect(names.filter((name) => /^(?:traceparent|tracestate|baggage|b3)/.test(name))).toEqual([]);
    const told = watched.spans().slice(before);
    expect(JSON.stringify(told.map(({ attributes }) => attributes))).not.toContain('edelweiss');
  });
});

test('both discovery documents give the namespace', async () => {
  const watched = await watchedHost();
  const v1 = await watched.call('/.well-known/svc');
  expect(v1.body.observability).toEqual({ supported: true, otel: { namespace: 'svc' } });
  const v2 = await watched.call('/.well-known/svc', { headers: { 'svc-version': '2' } });
  expect(v2.body.observability).toMatchObject({ status: 'stable', otel: { namespace: 'svc' } });
});

test('without an SDK the host works and records nothing', async () => {
  const watched = await watchedHost({ ports: { telemetry: {} } });
  await watched.register();
  await watched.run();
  await eventually(() => watched.posts.length === 1);
  expect(watched.spans()).toEqual([]);
  expect(await watched.names()).toEqual([]);
});
