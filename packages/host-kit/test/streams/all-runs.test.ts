import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import type { Store } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { sampleEvent, sampleRun } from '../../src/testing/store-contract/samples.ts';
import { manualClock } from './manual-clock.ts';
import { eventually, KEY, OTHER_TENANT, OTHER_WORKSPACE, open, type Serving, type Stream, serve } from './serving.ts';

const FEED = '/host/example/events';
const folder = mkdtempSync(join(tmpdir(), 'svc-all-runs-'));
let postgres: Awaited<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

let begun: Serving[] = [];
// A host closes its store.
afterEach(async () => {
  for (const serving of begun) await serving.close();
  begun = [];
});

async function begin(...options: Parameters<typeof serve>): Promise<Serving> {
  const serving = await serve(...options);
  begun.push(serving);
  return serving;
}

async function onStore(store: Store | Promise<Store>): Promise<Serving> {
  return begin({ store: await store });
}

interface Event {
  readonly runId: string;
  readonly sequence: number;
  readonly type: string;
}

/** The messages of a stream that carry an event. The others carry the position alone. */
const shown = ({ messages }: Stream) => messages.filter(({ event }) => event !== undefined);
const eventsIn = (stream: Stream) => shown(stream).map(({ data }) => data as Event);
const namesIn = (stream: Stream) => eventsIn(stream).map(({ runId, sequence }) => `${runId} ${sequence}`);

let files = 0;
const STORES: readonly (readonly [name: string, open: () => Store | Promise<Store>])[] = [
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore(join(folder, `${files++}.db`))],
  ['PostgreSQL', () => postgresStore({ url: postgres.url, schema: `feed_${files++}` })],
];

describe.each(STORES)('on the %s store', (_, openStore) => {
  test('the stream sends the events of all runs, resumes after each, and goes on with new ones', async () => {
    const serving = await onStore(openStore());
    const [first, second] = [await serving.newRun(), await serving.newRun()];
    await serving.append(first, 'run.started');
    await serving.append(second, 'run.started', 'run.completed');
    const stream = await serving.open(FEED, { 'svc-version': '1' });
    await eventually(() => eventsIn(stream).length === 3);
    await serving.append(first, 'run.failed');
    await eventually(() => eventsIn(stream).length === 4);
    const expected = [`${first} 0`, `${second} 0`, `${second} 1`, `${first} 1`];
    expect(namesIn(stream)).toEqual(expected);
    expect(shown(stream).map(({ event }) => event)).toEqual([
      'run.started',
      'run.started',
      'run.completed',
      'run.failed',
    ]);
    for (const [index, { id = '' }] of shown(stream).entries()) {
      const resumed = await serving.open(FEED, { 'svc-version': '1', 'last-event-id': id });
      await eventually(() => eventsIn(resumed).length === 3 - index);
      expect(namesIn(resumed)).toEqual(expected.slice(index + 1));
      resumed.leave();
    }
    stream.leave();
    await eventually(() => serving.host.readers() === 0);
  });

  test('the poll returns the events after a cursor, and waits for the next one', async () => {
    const serving = await onStore(openStore());
    const runId = await serving.newRun();
    await serving.append(runId, 'run.started', 'node.completed');
    const first = await serving.json(`${FEED}/poll`, { 'svc-version': '1' });
    expect(first.body.events.map(({ sequence }: Event) => sequence)).toEqual([0, 1]);
    const waiting = serving.json(`${FEED}/poll?after=${first.body.cursor}`, { 'svc-version': '1' });
    await eventually(() => serving.host.readers() === 1);
    await serving.append(runId, 'run.completed');
    const { status, body, headers } = await waiting;
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    expect(body.events.map(({ type }: Event) => type)).toEqual(['run.completed']);
    expect(serving.host.readers()).toBe(0);
  });
});

test('two hosts on one PostgreSQL send every event of all runs once, in the order of each run, while both write', async () => {
  const schema = `feed_${files++}`;
  const url = postgres.url;
  const stored = await postgresStore({ url, schema });
  const hosts = [await onStore(stored), await onStore(postgresStore({ url, schema }))];
  const streams = await Promise.all(hosts.map((host) => host.open(FEED, { 'svc-version': '1' })));
  const [one] = hosts;
  if (one === undefined) throw new Error('There is no host.');
  const runIds = await Promise.all(Array.from({ length: 6 }, () => one.newRun()));
  // A transaction that stays open while others commit, and commits with an event after them.
  const late = sampleRun({ runId: 'run_late', workspace: 'acme-prod' });
  let commit = (): void => {};
  const committed = stored.transaction(async (transaction) => {
    await stored.runs.insert(late, transaction);
    await stored.events.insert([{ ...sampleEvent(0), runId: 'run_late', eventId: 'evt_late' }], transaction);
    await new Promise<void>((resolve) => {
      commit = resolve;
    });
  });
  const writing = runIds.map(async (runId, index) => {
    const host = hosts[index % 2] ?? one;
    await host.append(runId, 'run.started', ...Array.from({ length: 10 }, () => 'node.completed'), 'run.completed');
  });
  await Promise.all(writing);
  commit();
  await committed;
  for (const stream of streams) {
    await eventually(() => eventsIn(stream).length >= 6 * 12 + 1);
    const names = namesIn(stream);
    expect(new Set(names).size).toBe(6 * 12 + 1);
    expect(names).toContain('run_late 0');
    for (const runId of runIds)
      expect(eventsIn(stream).flatMap((event) => (event.runId === runId ? [event.sequence] : []))).toEqual(
        Array.from({ length: 12 }, (_, sequence) => sequence),
      );
  }
});

test('each caller receives the events of the runs that it reaches alone', async () => {
  const serving = await begin();
  const runId = await serving.newRun();
  await serving.append(runId, 'run.started');
  for (const key of [OTHER_TENANT, OTHER_WORKSPACE]) {
    const headers = { authorization: `Bearer ${key}` };
    const polled = await serving.json(`${FEED}/poll?timeout=1`, headers);
    expect(polled.body.events).toEqual([]);
    // The cursor is past the events of others, so the next poll does not look at them again.
    expect(polled.body.cursor).toBe((await serving.json(`${FEED}/poll`)).body.cursor);
  }
});

test('a filter shows the named types, and keep-alives tell how far the stream has come', async () => {
  const clock = manualClock();
  const serving = await begin({ ports: { clock } });
  const runId = await serving.newRun();
  await serving.append(runId, 'run.started', 'node.completed');
  const stream = await serving.open(`${FEED}?types=run.completed,run.failed`, { 'svc-version': '2' });
  await eventually(() => stream.comments.length === 1);
  expect(stream.comments[0]).toBe(':keepalive\nid: 0-0');
  clock.advance(15_000);
  await eventually(() => stream.comments.length === 2);
  expect(stream.comments[1]).toMatch(/^:keepalive\nid: 2-0$/);
  await serving.append(runId, 'node.completed', 'run.completed');
  clock.advance(10);
  await eventually(() => eventsIn(stream).length === 1);
  expect(eventsIn(stream)[0]).toMatchObject({ runId: `acme/${runId}`, type: 'run.completed', sequence: 3 });
});

test('a stream from now begins with the next event', async () => {
  const serving = await begin();
  const runId = await serving.newRun();
  await serving.append(runId, 'run.started');
  const stream = await serving.open(`${FEED}?from=now`);
  await eventually(() => stream.comments.length === 1);
  await serving.append(runId, 'run.completed');
  await eventually(() => eventsIn(stream).length === 1);
  expect(eventsIn(stream)[0]?.type).toBe('run.completed');
});

test('the twin under /v1 answers in the form of major 1, the other path in that of the version header', async () => {
  const serving = await begin();
  const runId = await serving.newRun();
  await serving.append(runId, 'run.started');
  const idOf = async (path: string, headers: Record<string, string> = {}) =>
    (await serving.json(path, headers)).body.events[0].runId;
  expect(await idOf(`/v1${FEED}/poll`)).toBe(runId);
  expect(await idOf(`${FEED}/poll`, { 'svc-version': '1' })).toBe(runId);
  expect(await idOf(`${FEED}/poll`, { 'svc-version': '2.0' })).toBe(`acme/${runId}`);
});

test.each([
  ['/poll?after=12', {}, 'query.after'],
  ['/poll?after=9000000000000000-0', {}, 'past the last event'],
  ['/poll?from=then', {}, 'query.from'],
  ['/poll?timeout=61', {}, 'query.timeout'],
  ['?types=run.unknown', {}, 'query.types'],
  ['', { 'last-event-id': '-1' }, 'headers.last-event-id'],
])('a request for the events of all runs with %s %j is a 400 that names %s', async (path, headers, named) => {
  const serving = await begin();
  const { status, body } = await serving.json(FEED + path, headers);
  expect([status, body.error]).toEqual([400, 'validation_error']);
  expect(JSON.stringify(body)).toContain(named);
});

describe('a stream of all runs ends', () => {
  test('when its credential expires', async () => {
    const clock = manualClock();
    const record = {
      ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all' as const, principal: 'p' },
      ...{ scopes: ['runs:read'], mode: 'live' as const, expiresAt: clock.now() + 60_000 },
    };
    const lane = apiKeyLane({ keys: memoryKeyStore([record]), now: clock.now });
    const serving = await begin({ ports: { clock }, authenticate: [lane] });
    const stream = await serving.open(FEED);
    await eventually(() => stream.comments.length > 0);
    clock.advance(60_001);
    expect(await stream.ended).toBe('ended');
    expect(serving.host.readers()).toBe(0);
  });

  test('when its key is revoked', async () => {
    const clock = manualClock();
    const record = {
      ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all' as const, principal: 'p' },
      ...{ scopes: ['runs:read'], mode: 'live' as const },
    };
    const keys = memoryKeyStore([record]);
    let isRevoked = false;
    const candidates: typeof keys.candidates = (lookup) => (isRevoked ? [] : keys.candidates(lookup));
    const serving = await begin({
      ports: { clock },
      authenticate: [apiKeyLane({ keys: { candidates }, now: clock.now })],
    });
    const stream = await serving.open(FEED);
    await eventually(() => stream.comments.length > 0);
    isRevoked = true;
    clock.advance(60_001);
    expect(await stream.ended).toBe('ended');
  });

  test('when the host stops', async () => {
    const serving = await begin();
    const stream = await serving.open(FEED);
    await eventually(() => stream.comments.length > 0);
    serving.host.closeStreams();
    expect(await stream.ended).toBe('ended');
  });
});

test('a credential that has all its places taken by streams of all runs is refused with 429', async () => {
  const readerLimits = { perRun: 9, perCredential: 2, total: 9 };
  const serving = await begin({ http: { streams: { readerLimits } } });
  await Promise.all([serving.open(FEED), serving.open(FEED)]);
  expect((await serving.open(FEED)).status).toBe(429);
});

test('a slow reader of a long log costs the host one page at a time', async () => {
  const inner = memoryStore();
  let pages = 0;
  const listAll: Store['events']['listAll'] = (...asked) => {
    pages++;
    return inner.events.listAll(...asked);
  };
  const serving = await begin({ store: { ...inner, events: { ...inner.events, listAll } } });
  const runId = await serving.newRun();
  const payload = { level: 'info', message: 'x'.repeat(1_000_000) };
  for (let count = 0; count < 60; count++) await serving.host.events.append(runId, { type: 'log.appended', payload });
  const stream = await open(serving.url + FEED);
  stream.pause();
  const before = pages;
  // A host that read ahead would do so while it answers these requests.
  for (let request = 0; request < 100; request++) await (await fetch(`${serving.url}/.well-known/svc`)).text();
  expect(pages - before).toBeLessThan(30);
  stream.resume();
  await eventually(() => eventsIn(stream).length === 60);
});
