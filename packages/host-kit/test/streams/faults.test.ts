import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Store } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { asyncProperty, assert as check, constantFrom, integer, record } from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { manualClock } from './manual-clock.ts';
import { eventually, KEY, open, type Serving, type Stream, serve } from './serving.ts';

let serving: Serving | undefined;
afterEach(async () => {
  await serving?.close();
  serving = undefined;
});

/** Writes the log of a completed run straight into the store. */
async function fill(store: Store, runId: string, events: number): Promise<void> {
  const payload = { level: 'info', message: 'x'.repeat(200) };
  await store.transaction(async (transaction) => {
    for (let sequence = 0; sequence < events; sequence += 1) {
      const type = sequence === events - 1 ? 'run.completed' : 'log.appended';
      const fields = { sequence, type, timestamp: sequence, schemaVersion: 1, engineVersion: 1 };
      await store.events.insert([{ ...fields, eventId: `evt_${runId}_${sequence}`, runId, payload }], transaction);
    }
    const change = { status: 'completed', lastSequence: events - 1, startedAt: 0, completedAt: events } as const;
    const [run] = await store.runs.forAppend([runId], transaction);
    if (run !== undefined) await store.runs.update([{ ...run, ...change }], transaction);
  });
}

const sequencesOf = (messages: Stream['messages']) => messages.map(({ id }) => Number(id));
const upTo = (end: number) => Array.from({ length: end }, (_, sequence) => sequence);

describe(covers('events.stream.slow-reader'), () => {
  const EVENTS = 100_000;
  const SLOW = 20;

  test('buffers little for 20 readers that do not read 100 000 events, and ends them after stallMs', async () => {
    const store = memoryStore();
    const clock = manualClock();
    serving = await serve({ store, ports: { clock }, http: { streams: { stallMs: 2000 } } });
    const { host, url } = serving;
    const runId = await serving.newRun();
    await fill(store, runId, EVENTS);
    const before = buffered();
    const slow = await Promise.all(Array.from({ length: SLOW }, () => deafReader(url, runId)));
    await eventually(() => host.readers() === SLOW);

    const reader = await serving.open(`/v1/runs/${runId}/events?streamMode=debug`);
    expect(await reader.ended).toBe('ended');
    expect(reader.messages.length).toBe(EVENTS);
    expect(reader.messages.every(({ id }, sequence) => Number(id) === sequence)).toBe(true);
    // Beside the cache of pages little may be in use. A host that read ahead for the others could have buffered 40 MB
    // for each of them, 800 MB in all, while this reader took its 40 MB.
    expect(buffered() - before).toBeLessThan(100_000_000);
    // The time has stood still: a reader that was ended before stallMs would be missing.
    expect(host.readers()).toBe(SLOW);

    clock.advance(2000);
    await eventually(() => host.readers() === 0);
    expect(serving.logged.filter(({ outcome }) => outcome === 'stalled')).toHaveLength(SLOW);
    for (const socket of slow) socket.resume();
    await eventually(() => slow.every(({ closed }) => closed));
  });

  test('sends everything to a reader that pauses again and again, each time for less than stallMs', async () => {
    const store = memoryStore();
    let pages = 0;
    const counting = counted(store, () => {
      pages += 1;
    });
    const clock = manualClock();
    serving = await serve({ store: counting, ports: { clock }, http: { streams: { stallMs: 2000 } } });
    const runId = await serving.newRun();
    await fill(store, runId, 30_000);
    const reader = await serving.open(`/v1/runs/${runId}/events?streamMode=debug`);
    let isOver = false;
    void reader.ended.then(() => {
      isOver = true;
    });
    // A host that measured the stall from anything else than the last piece that was taken would cut the reader off.
    while (!isOver) {
      reader.pause();
      clock.advance(1500);
      reader.resume();
      const seen = pages;
      await eventually(() => pages > seen || isOver);
    }
    expect(await reader.ended).toBe('ended');
    expect(reader.messages).toHaveLength(30_000);
  });

  test('buffers only some events of 1 MB for a reader that does not read 100 of them', async () => {
    const store = memoryStore();
    serving = await serve({ store, ports: { clock: manualClock() } });
    const { host, url } = serving;
    const runId = await serving.newRun();
    const payload = { level: 'info', message: 'x'.repeat(1_000_000) };
    for (let count = 0; count < 100; count += 1) await host.events.append(runId, { type: 'log.appended', payload });
    const before = buffered();
    const reader = await deafReader(url, runId);
    await eventually(() => host.readers() === 1);
    // A host that read ahead would do so while it answers these requests.
    for (let request = 0; request < 100; request += 1) await (await fetch(`${url}/.well-known/svc`)).text();
    expect(buffered() - before).toBeLessThan(30_000_000);
    expect(host.readers()).toBe(1);
    reader.destroy();
  });
});

/** Calls `read` for each page of events that is read. */
function counted(store: Store, read: () => void): Store {
  return {
    ...store,
    events: {
      ...store.events,
      list(run, page) {
        read();
        return store.events.list(run, page);
      },
    },
  };
}

/** Bytes that are in use outside of the heap, where everything is that waits to be written. */
function buffered(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Opens a stream and never reads from its socket. */
async function deafReader(url: string, runId: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  const target = `/v1/runs/${runId}/events?streamMode=debug`;
  socket.write(`GET ${target} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${KEY}\r\n\r\n`);
  return socket;
}

test('reads and renders a page once for 200 readers of a run', async () => {
  const store = memoryStore();
  let pages = 0;
  const counting = counted(store, () => {
    pages += 1;
  });
  // The time stands still: every keep-alive reads a page, and on a slow machine many would be due.
  const clock = manualClock();
  serving = await serve({ store: counting, ports: { clock } });
  const { host } = serving;
  const runId = await serving.newRun();
  await serving.append(runId, 'run.started');
  for (let count = 1; count < 600; count += 1) await serving.append(runId, 'log.appended');
  const path = `/v1/runs/${runId}/events?streamMode=debug`;
  const readers = await Promise.all(Array.from({ length: 200 }, () => open((serving?.url ?? '') + path)));
  await Promise.all(readers.map((reader) => reader.count(600)));
  expect(host.readers()).toBe(200);
  // Three pages; then each reader asks once for more.
  expect(pages).toBeLessThan(3 + 200 + 30);

  pages = 0;
  for (let count = 0; count < 20; count += 1) {
    await serving.append(runId, 'log.appended');
    clock.advance(10);
    await Promise.all(readers.map((reader) => reader.count(601 + count)));
  }
  expect(pages).toBeLessThan(60);
  await serving.append(runId, 'run.completed');
  clock.advance(10);
  await Promise.all(readers.map(({ ended }) => ended));
  for (const reader of readers) expect(sequencesOf(reader.messages)).toEqual(upTo(621));
  expect(host.readers()).toBe(0);
});

test('sends each event once and in order to a reader that leaves and resumes at any time', async () => {
  serving = await serve();
  const { url, host, newRun, append } = serving;
  const step = record({
    appended: integer({ min: 0, max: 40 }),
    seenBeforeLeaving: integer({ min: 0, max: 50 }),
    major: constantFrom(1, 2),
    bufferMs: constantFrom(0, 0, 1, 20),
  });
  const sessions = asyncProperty(integer({ min: 0, max: 600 }), step, step, step, step, async (backlog, ...steps) => {
    const runId = await newRun();
    await append(runId, 'run.started', ...Array<string>(backlog).fill('log.appended'));
    const seen: number[] = [];
    let total = 1 + backlog;
    const paths = { 1: `/v1/runs/${runId}/events`, 2: `/runs/acme~2F${runId}/events` };
    const session = (major: 1 | 2, bufferMs: number) =>
      open(`${url}${paths[major]}?streamMode=debug&bufferMs=${bufferMs}`, {
        'svc-version': String(major),
        ...(seen.length > 0 && { 'last-event-id': String(seen.at(-1)) }),
      });
    for (const { appended, seenBeforeLeaving, major, bufferMs } of steps) {
      const stream = await session(major === 1 ? 1 : 2, bufferMs);
      const appending = append(runId, ...Array<string>(appended).fill('log.appended'));
      total += appended;
      const wanted = Math.min(seenBeforeLeaving, total - seen.length);
      await eventually(() => sequencesIn(stream).length >= wanted);
      stream.leave();
      seen.push(...sequencesIn(stream));
      await appending;
    }
    await append(runId, 'run.completed');
    const last = await session(2, 0);
    await last.ended;
    seen.push(...sequencesIn(last));
    expect(seen).toEqual(upTo(total + 1));
  });
  await check(sessions, { numRuns: 25 });
  await eventually(() => host.readers() === 0);
});

/** The sequences in single messages and in batches. */
function sequencesIn({ messages }: Stream): number[] {
  return messages
    .flatMap(({ data }) => data as { sequence: number }[] | { sequence: number })
    .map(({ sequence }) => sequence);
}

test('cuts a stream off when the store fails, and logs the cause without sending it', async () => {
  const store = memoryStore();
  let isDown = false;
  const failing: Store = {
    ...store,
    events: {
      ...store.events,
      async list(run, page) {
        if (isDown) throw new Error('the disk is gone: /var/lib/secret');
        return store.events.list(run, page);
      },
    },
  };
  serving = await serve({ store: failing });
  const runId = await serving.newRun();
  await serving.append(runId, 'run.started');
  const stream = await serving.open(`/v1/runs/${runId}/events`);
  await stream.count(1);
  isDown = true;
  await serving.append(runId, 'node.completed');
  expect(await stream.ended).toBe('cut');
  expect(stream.text()).not.toContain('secret');
  expect(serving.logged).toContainEqual(expect.objectContaining({ event: 'stream.failed' }));
  expect(serving.host.readers()).toBe(0);

  isDown = false;
  await serving.append(runId, 'run.completed');
  const resumed = await serving.open(`/v1/runs/${runId}/events`, { 'last-event-id': '0' });
  await resumed.ended;
  expect(sequencesOf(resumed.messages)).toEqual([1, 2]);
});

describe('over SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-streams-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('sends every event to readers that open a stream while the log grows', async () => {
    serving = await serve({ store: sqliteStore(join(folder, 'svc.db')) });
    const { url } = serving;
    const runId = await serving.newRun();
    const EVENTS = 1201;
    await serving.append(runId, 'run.started');
    const appending = (async () => {
      // Appends that wait together share a flush to disk.
      for (let count = 1; count < EVENTS; count += 40) {
        await Promise.all(Array.from({ length: 40 }, () => serving?.append(runId, 'log.appended')));
      }
      await serving?.append(runId, 'run.completed');
    })();
    const readers: Stream[] = [];
    for (let count = 0; count < 20; count += 1) {
      readers.push(await open(`${url}/v1/runs/${runId}/events?streamMode=debug`));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await appending;
    for (const reader of readers) {
      expect(await reader.ended).toBe('ended');
      expect(sequencesOf(reader.messages)).toEqual(upTo(EVENTS + 1));
    }
  });
});

describe('two hosts on one PostgreSQL', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let writing: Serving;
  let reading: Serving;
  const clock = manualClock();
  beforeAll(async () => {
    postgres = await startPostgres();
    writing = await serve({ store: await postgresStore({ url: postgres.url, connections: 4 }) });
    const streams = { stallMs: 3_600_000 };
    reading = await serve({
      store: await postgresStore({ url: postgres.url, connections: 4 }),
      ports: { clock },
      http: { streams },
    });
  });
  afterAll(async () => {
    await reading?.close();
    await writing?.close();
    await postgres?.stop();
  });

  /** Moves the time of the reading host until it holds. */
  const inTime = (condition: () => boolean, stepMs: number) =>
    eventually(() => {
      clock.advance(stepMs);
      return condition();
    });

  test('send the events of the other host to their readers within 300 ms, all of them and in order', async () => {
    const runId = await writing.newRun();
    const stream = await reading.open(`/v1/runs/${runId}/events?streamMode=debug`);
    const poll = reading.json(`/v1/runs/${runId}/events/poll`);
    await eventually(() => reading.host.readers() === 2);
    await writing.append(runId, 'run.started');
    // The time of the reading host stops after 300 ms. A host that found new events by its keep-alive alone (15 s), or
    // at the end of the poll (30 s), would send neither of these.
    clock.advance(300);
    expect((await poll).body.events).toMatchObject([{ type: 'run.started' }]);
    await stream.count(1);
    for (let count = 0; count < 60; count += 1) await writing.append(runId, 'log.appended');
    await writing.append(runId, 'run.completed');
    await inTime(() => reading.host.readers() === 0, 50);
    expect(await stream.ended).toBe('ended');
    expect(sequencesOf(stream.messages)).toEqual(upTo(62));
  });

  test('end the stream of a reader whose cursor is past the end of the run', async () => {
    const runId = await writing.newRun();
    const stream = await reading.open(`/v1/runs/${runId}/events`, { 'last-event-id': '1000' });
    await eventually(() => stream.comments.length > 0);
    await writing.append(runId, 'run.started', 'run.failed');
    await inTime(() => reading.host.readers() === 0, 50);
    expect(await stream.ended).toBe('ended');
    expect(stream.messages).toEqual([]);
  });
});
