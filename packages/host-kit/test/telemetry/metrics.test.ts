import { memoryStore } from '@svc/host-kit/stores/memory';
import { afterEach, describe, expect, test } from 'vitest';
import { METRICS } from '../../src/telemetry/metrics.ts';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';
import type { Series } from './recording.ts';
import {
  CLEANUP,
  eventually,
  KEY,
  LONGEST_WAIT_MS,
  shiftedClock,
  type Verdict,
  type WatchedHost,
  watchedHost,
} from './watched-host.ts';

afterEach(async () => {
  for (const clean of CLEANUP.splice(0)) await clean();
});

const RETRYING = {
  durable: true,
  retryPolicy: { maxAttempts: 2, backoff: 'none', delayMs: 0, maxDelayMs: 0 },
} as const;

/** Waits until a metric has exactly these series, in any order. */
async function expectSeries({ series }: WatchedHost, name: string, expected: readonly Series[]): Promise<void> {
  const current = async () => sorted(await series(name));
  await expect.poll(current, { timeout: LONGEST_WAIT_MS, interval: 5, message: name }).toEqual(sorted(expected));
}

function sorted(series: readonly Series[]): readonly Series[] {
  const inOrder = series.map(({ attributes, value }) => ({
    attributes: Object.fromEntries(Object.entries(attributes).sort()),
    value,
  }));
  return inOrder.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

test('counts requests by operation, major and status, and by no text of a caller', async () => {
  const watched = await watchedHost();
  const { call, run } = watched;
  const runId = await run();
  await call(`/v1/runs/${runId}`);
  await call(`/runs/tenant-amaryllis~2F${runId}`, { headers: { 'svc-version': '2' } });
  await call(`/runs/${runId}`);
  await call('/v1/runs/none');
  await call('/v1/webhooks', { method: 'BREW' });
  await call('/nothing/here');
  await call('/host/example/webhooks');
  await call('/v1/openapi.json', { headers: { 'svc-version': '2' } });
  const base = { 'url.scheme': 'http' };
  const read = { ...base, 'http.request.method': 'GET', 'svc.operation': 'readRun' };
  const answered = (status: number) => ({ 'http.response.status_code': status });
  await expectSeries(watched, 'http.server.request.duration', [
    {
      attributes: {
        ...base,
        ...answered(201),
        'http.request.method': 'POST',
        'http.route': '/v1/runs',
        'svc.operation': 'createRun',
        'svc.major': 1,
      },
      value: 1,
    },
    { attributes: { ...read, ...answered(200), 'http.route': '/v1/runs/{runId}', 'svc.major': 1 }, value: 1 },
    { attributes: { ...read, ...answered(404), 'http.route': '/v1/runs/{runId}', 'svc.major': 1 }, value: 1 },
    { attributes: { ...read, ...answered(200), 'http.route': '/runs/{runId}', 'svc.major': 1 }, value: 1 },
    { attributes: { ...read, ...answered(200), 'http.route': '/runs/{runId}', 'svc.major': 2 }, value: 1 },
    { attributes: { ...base, ...answered(405), 'http.request.method': '_OTHER', 'svc.major': 1 }, value: 1 },
    { attributes: { ...base, ...answered(404), 'http.request.method': 'GET' }, value: 1 },
    {
      attributes: { ...base, ...answered(200), 'http.request.method': 'GET', 'http.route': '/host/example/webhooks' },
      value: 1,
    },
    { attributes: { ...base, ...answered(400), 'http.request.method': 'GET', 'svc.major': 1 }, value: 1 },
  ]);
  await expectSeries(watched, 'http.server.active_requests', [
    { attributes: { ...base, 'http.request.method': 'POST' }, value: 0 },
    { attributes: { ...base, 'http.request.method': 'GET' }, value: 0 },
    { attributes: { ...base, 'http.request.method': '_OTHER' }, value: 0 },
  ]);
});

test('gives a request with status 500 an error type', async () => {
  const store = memoryStore();
  const broken = { ...store.runs, read: () => Promise.reject(new Error('The disk is gone.')) };
  const watched = await watchedHost({ store: { ...store, runs: broken } });
  await watched.call('/v1/runs/any');
  const [series] = await watched.series('http.server.request.duration');
  expect(series?.attributes).toMatchObject({ 'http.response.status_code': 500, 'error.type': '500' });
});

describe('counts attempts by outcome', () => {
  const OUTCOMES: readonly [title: string, verdict: Verdict, attributes: Series['attributes']][] = [
    [
      'a delivery',
      { kind: 'answered', status: 204 },
      { 'svc.webhook.outcome': 'delivered', 'svc.webhook.status_class': '2xx' },
    ],
    [
      'a refusal',
      { kind: 'answered', status: 418 },
      { 'svc.webhook.outcome': 'failed', 'svc.webhook.status_class': '4xx' },
    ],
    [
      'a redirect',
      { kind: 'answered', status: 302 },
      { 'svc.webhook.outcome': 'failed', 'svc.webhook.status_class': '3xx' },
    ],
    [
      'a status of no class',
      { kind: 'answered', status: 999 },
      { 'svc.webhook.outcome': 'failed', 'svc.webhook.status_class': '_OTHER' },
    ],
    [
      'a timeout',
      { kind: 'failed', reason: 'timeout' },
      { 'svc.webhook.outcome': 'failed', 'svc.webhook.reason': 'timeout' },
    ],
    [
      'a reason of a foreign transport',
      { kind: 'failed', reason: 'moon' },
      { 'svc.webhook.outcome': 'failed', 'svc.webhook.reason': '_OTHER' },
    ],
    ['a denial, without its reason', { kind: 'denied', reason: 'private-use' }, { 'svc.webhook.outcome': 'denied' }],
  ];

  test.each(OUTCOMES)('%s', async (_title, verdict, attributes) => {
    const watched = await watchedHost({ webhooks: { durable: false } });
    watched.verdict = verdict;
    await watched.register();
    await watched.run();
    await expectSeries(watched, 'svc.webhook.attempt.duration', [
      { attributes: { 'svc.webhook.mode': 'best-effort', ...attributes }, value: 1 },
    ]);
    const lane = { 'svc.webhook.lane': 'regular' };
    await expectSeries(watched, 'svc.webhook.queue.lag', [{ attributes: lane, value: 1 }]);
    await expectSeries(watched, 'svc.webhook.active_attempts', [{ attributes: lane, value: 0 }]);
  });
});

test('counts the attempts of a subscription in the slow lane after a time-out, and its way there and back', async () => {
  const watched = await watchedHost();
  await watched.register();
  watched.verdict = { kind: 'failed', reason: 'timeout' };
  await watched.run();
  const transition = (from: string, to: string) => ({
    attributes: { 'svc.state.from': from, 'svc.state.to': to },
    value: 1,
  });
  await expectSeries(watched, 'svc.webhook.lane.transitions', [transition('regular', 'slow')]);
  watched.verdict = { kind: 'failed', reason: 'connect' };
  await watched.run();
  await expectSeries(watched, 'svc.webhook.lane.transitions', [
    transition('regular', 'slow'),
    transition('slow', 'regular'),
  ]);
  await expectSeries(watched, 'svc.webhook.queue.lag', [
    { attributes: { 'svc.webhook.lane': 'regular' }, value: 1 },
    { attributes: { 'svc.webhook.lane': 'slow' }, value: 1 },
  ]);
});

test('counts a durable delivery that fails as a retry, and then as a dead letter', async () => {
  const watched = await watchedHost({ webhooks: RETRYING });
  watched.verdict = { kind: 'failed', reason: 'connect' };
  await watched.register();
  await watched.run();
  await expectSeries(watched, 'svc.webhook.dead_letters', [
    { attributes: { 'svc.webhook.cause': 'retries-exhausted' }, value: 1 },
  ]);
  await expectSeries(watched, 'svc.webhook.retries', [{ attributes: {}, value: 1 }]);
  await expectSeries(watched, 'svc.webhook.attempt.duration', [
    {
      attributes: { 'svc.webhook.mode': 'durable', 'svc.webhook.outcome': 'failed', 'svc.webhook.reason': 'connect' },
      value: 2,
    },
  ]);
});

test('counts the failure of a subscription by 410, and the dead letters after it', async () => {
  const watched = await watchedHost({ webhooks: RETRYING });
  watched.verdict = { kind: 'answered', status: 410 };
  await watched.register();
  await watched.run();
  await eventually(() => watched.posts.length === 1);
  await watched.run();
  await expectSeries(watched, 'svc.webhook.dead_letters', [
    { attributes: { 'svc.webhook.cause': 'gone' }, value: 1 },
    { attributes: { 'svc.webhook.cause': 'subscription-failed' }, value: 1 },
  ]);
  await expectSeries(watched, 'svc.webhook.subscription.transitions', [
    { attributes: { 'svc.state.from': 'active', 'svc.state.to': 'failed' }, value: 1 },
    { attributes: { 'svc.state.from': 'failed', 'svc.state.to': 'dead-lettered' }, value: 1 },
  ]);
  expect(watched.posts.length).toBe(1);
});

test('counts the transitions of a circuit, and the deliveries that it skips', async () => {
  const cooldownMs = 3_600_000;
  const circuit = { failureThreshold: 1, cooldownMs, failureLimit: 100, failureWindowMs: 60_000 };
  const clock = shiftedClock();
  const watched = await watchedHost({ webhooks: { durable: false, circuit }, ports: { clock } });
  const attempts = async () => (await watched.series('svc.webhook.attempt.duration')).length;
  watched.verdict = { kind: 'answered', status: 500 };
  await watched.register();
  await watched.run();
  await eventually(async () => (await attempts()) === 1);
  await watched.run();
  await expectSeries(watched, 'svc.webhook.skipped', [
    { attributes: { 'svc.webhook.cause': 'circuit-open' }, value: 1 },
  ]);
  watched.verdict = { kind: 'answered', status: 200 };
  clock.forward(cooldownMs);
  await watched.run();
  await expectSeries(watched, 'svc.webhook.circuit.transitions', [
    { attributes: { 'svc.state.from': 'closed', 'svc.state.to': 'open' }, value: 1 },
    { attributes: { 'svc.state.from': 'open', 'svc.state.to': 'half-open' }, value: 1 },
    { attributes: { 'svc.state.from': 'half-open', 'svc.state.to': 'closed' }, value: 1 },
  ]);
});

test('counts a pause and a resume, and no request that changes nothing', async () => {
  const watched = await watchedHost();
  const webhookId = await watched.register();
  for (const signal of ['pause', 'pause', 'resume']) {
    await watched.call(`/host/example/webhooks/${webhookId}/${signal}`, { method: 'POST' });
  }
  await expectSeries(watched, 'svc.webhook.subscription.transitions', [
    { attributes: { 'svc.state.from': 'active', 'svc.state.to': 'paused' }, value: 1 },
    { attributes: { 'svc.state.from': 'paused', 'svc.state.to': 'active' }, value: 1 },
  ]);
});

test('counts events by type, and runs by terminal status', async () => {
  const watched = await watchedHost();
  await watched.run();
  await watched.run({ inputs: { fail: true } });
  await expectSeries(watched, 'svc.run.started', [{ attributes: {}, value: 2 }]);
  await expectSeries(watched, 'svc.run.ended', [
    { attributes: { 'svc.run.status': 'completed' }, value: 1 },
    { attributes: { 'svc.run.status': 'failed' }, value: 1 },
  ]);
  await expectSeries(watched, 'svc.event.appended', [
    { attributes: { 'svc.event.type': 'run.started' }, value: 2 },
    { attributes: { 'svc.event.type': 'run.completed' }, value: 1 },
    { attributes: { 'svc.event.type': 'run.failed' }, value: 1 },
  ]);
});

test('counts readers while they read, and closed streams by outcome', async () => {
  const watched = await watchedHost();
  const runId = await watched.run();
  const ended = async () => (await watched.series('svc.run.ended')).length === 1;
  await eventually(ended);
  const request = new Request(`http://host.test/v1/runs/${runId}/events`, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  const [read, left] = [await watched.host.fetch(request), await watched.host.fetch(request)];
  await expectSeries(watched, 'svc.event.readers', [{ attributes: {}, value: 2 }]);
  await read.text();
  await left.body?.cancel();
  await expectSeries(watched, 'svc.event.readers', [{ attributes: {}, value: 0 }]);
  await expectSeries(watched, 'svc.event.streams_closed', [
    { attributes: { 'svc.event.stream_outcome': 'ended' }, value: 1 },
    { attributes: { 'svc.event.stream_outcome': 'left' }, value: 1 },
  ]);
});

test('counts transactions by outcome', async () => {
  const store = memoryStore();
  const insert: typeof store.events.insert = (events, transaction) =>
    events.some(({ type }) => type === 'node.completed')
      ? Promise.reject(new Error('The disk is full.'))
      : store.events.insert(events, transaction);
  const watched = await watchedHost({ store: { ...store, events: { ...store.events, insert } } });
  await watched.run();
  const ended = async () => (await watched.series('svc.run.ended')).length === 1;
  await eventually(ended);
  await store.transaction((transaction) =>
    store.runs.insert(sampleRun({ runId: 'run_open', status: 'waiting-external' }), transaction),
  );
  const append = watched.host.events.append('run_open', { type: 'node.completed', payload: { nodeId: 'n' } });
  await expect(append).rejects.toThrow('The disk is full');
  const series = await watched.series('svc.store.transaction.duration');
  const of = (outcome: string) => series.find(({ attributes }) => attributes['svc.store.outcome'] === outcome)?.value;
  expect(of('rolled-back')).toBe(1);
  expect(of('committed')).toBeGreaterThan(2);
});

test('counts the checkpoints of the audit log, and its failed writes', async () => {
  const store = memoryStore();
  let isBroken = true;
  const append: typeof store.audit.append = (facts, transaction) =>
    isBroken && facts.some(({ action }) => action === 'request')
      ? Promise.reject(new Error('The disk is full.'))
      : store.audit.append(facts, transaction);
  const watched = await watchedHost({ store: { ...store, audit: { ...store.audit, append } } });
  await watched.run();
  await expectSeries(watched, 'svc.audit.failures', [{ attributes: { 'svc.audit.step': 'write' }, value: 1 }]);
  isBroken = false;
  await expectSeries(watched, 'svc.audit.checkpoints', [{ attributes: {}, value: 1 }]);
});

test('reads the backlog when metrics are collected, and no more once the host has stopped', async () => {
  const store = memoryStore();
  const clock = shiftedClock();
  let looks = 0;
  const read: typeof store.backlog.read = (request) => {
    looks += 1;
    return store.backlog.read(request);
  };
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const watched = await watchedHost({
    ports: {
      clock,
      async transport() {
        await released;
        return { kind: 'answered', status: 204, retryAfter: undefined, durationMs: 1 };
      },
    },
    store: { ...store, backlog: { read } },
    webhooks: { durable: true, concurrency: { total: 1, perSubscription: 1 } },
  });
  const gauge = async (name: string) => (await watched.series(name)).map(({ value }) => value);
  expect(looks).toBe(0);
  expect(await gauge('svc.webhook.queue.due')).toEqual([0]);
  expect(await gauge('svc.webhook.queue.oldest_due_age')).toEqual([0]);
  await watched.register();
  for (let turn = 0; turn < 5; turn++) await watched.run();
  // Of the five, one is under way.
  await expectSeries(watched, 'svc.webhook.queue.due', [{ attributes: {}, value: 4 }]);
  clock.forward(20_000);
  const [age] = await gauge('svc.webhook.queue.oldest_due_age');
  // In seconds: in milliseconds it would be 20 000 at least.
  expect(age).toBeGreaterThanOrEqual(20);
  expect(age).toBeLessThan(20_000);
  expect(await gauge('svc.event.readers')).toEqual([0]);
  release();
  await watched.host.stop(0);
  const before = looks;
  await watched.names();
  expect(looks).toBe(before);
});

describe('shows the age of the oldest snapshot', () => {
  test('in seconds', async () => {
    const watched = await watchedHost({ store: { ...memoryStore(), oldestSnapshotMs: async () => 1500 } });
    expect(await watched.series('svc.store.oldest_snapshot_age')).toEqual([{ attributes: {}, value: 1.5 }]);
  });

  test('only of a store that has snapshots', async () => {
    const watched = await watchedHost();
    expect(await watched.series('svc.store.oldest_snapshot_age')).toEqual([]);
  });

  test('and leaves it out while the store fails, with no other gauge', async () => {
    const failing = async () => {
      throw new Error('PostgreSQL is away.');
    };
    const watched = await watchedHost({ store: { ...memoryStore(), oldestSnapshotMs: failing } });
    expect(await watched.series('svc.store.oldest_snapshot_age')).toEqual([]);
    expect(await watched.series('svc.webhook.queue.due')).toEqual([{ attributes: {}, value: 0 }]);
  });
});

test('every metric has a description, a unit in UCUM and a unique name', () => {
  const all = Object.values(METRICS);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { name, unit, description } of all) {
    expect(name).toMatch(/^(?:http\.server|svc)\.[a-z_.]+$/);
    expect(unit).toMatch(/^(?:s|By|\{[a-z]+\})$/);
    expect(description).toMatch(/^[A-Z].*\.$/);
  }
});
