import type { StoreFiles, StoreObserver } from '@svc/host-kit/ports';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { afterEach, describe, expect, test } from 'vitest';
import { yieldToLoop } from '../../src/ports/clock.ts';
import { manualClock } from '../streams/manual-clock.ts';
import { CLEANUP, OTHER_TENANT, READER, watchedHost } from '../telemetry/watched-host.ts';

afterEach(async () => {
  for (const clean of CLEANUP.splice(0)) await clean();
});

const STRANGER = { headers: { authorization: '' } };
const PASSED = { status: 200, text: 'ok\n' };
const FAILED = { status: 503, text: 'not ok\n' };

/** Asks a probe as an orchestrator does, without a credential. */
async function probed({ host }: Awaited<ReturnType<typeof watchedHost>>, probe: string, method = 'GET') {
  const response = await host.fetch(new Request(`http://host.test/host/example/${probe}`, { method }));
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const shown = async (...args: Parameters<typeof probed>) => {
  const { status, text } = await probed(...args);
  return { status, text };
};

test('passes livez always, and readyz from start to drain', async () => {
  const watched = await watchedHost({ engine: async () => ({}) }, 'made');
  expect([await shown(watched, 'livez'), await shown(watched, 'readyz')]).toEqual([PASSED, FAILED]);
  expect((await watched.host.health()).checks).toEqual([{ name: 'lifecycle', ok: false, reason: 'made' }]);
  await watched.host.start();
  expect([await shown(watched, 'livez'), await shown(watched, 'readyz')]).toEqual([PASSED, PASSED]);
  expect(await watched.host.health()).toEqual({
    ready: true,
    checks: [
      { name: 'lifecycle', ok: true },
      { name: 'deliveries', ok: true },
      { name: 'store', ok: true },
    ],
  });
  watched.host.drain();
  expect([await shown(watched, 'livez'), await shown(watched, 'readyz')]).toEqual([PASSED, FAILED]);
  // A draining host still serves requests.
  expect((await watched.call('/v1/runs', { body: { workflowId: 'any' } })).status).toBe(201);
  await watched.host.stop(0);
  expect([await shown(watched, 'livez'), await shown(watched, 'readyz')]).toEqual([PASSED, FAILED]);
});

test('passes livez and fails readyz when the store is away', async () => {
  const store = memoryStore();
  const away = await watchedHost({ store: { ...store, probe: () => Promise.reject(new Error('gone')) } });
  expect([await shown(away, 'livez'), await shown(away, 'readyz')]).toEqual([PASSED, FAILED]);
});

test('fails both probes when the store is lost for good, and tells the cause', async () => {
  const observers: StoreObserver[] = [];
  const files: StoreFiles = {
    check: async () => 'sound',
    watch(observer) {
      observers.push(observer);
      return () => {};
    },
    logBytes: () => 0,
  };
  const watched = await watchedHost({ store: { ...memoryStore(), files } });
  expect([await shown(watched, 'livez'), await shown(watched, 'readyz')]).toEqual([PASSED, PASSED]);
  const cause = new Error('The file was deleted.');
  for (const observer of observers) observer.lost(cause);
  expect(await watched.host.lost).toBe(cause);
  expect([await shown(watched, 'livez'), await shown(watched, 'readyz')]).toEqual([FAILED, FAILED]);
  expect((await watched.host.health()).checks).toContainEqual({ name: 'store', ok: false, reason: 'lost' });
});

test('does not start on a store whose files are damaged', async () => {
  const check = () => Promise.reject(new Error('The database is damaged.'));
  const files: StoreFiles = { check, watch: () => () => {}, logBytes: () => 0 };
  await expect(watchedHost({ store: { ...memoryStore(), files } })).rejects.toThrow('The database is damaged.');
});

test('asks the store for nothing in livez, and once a second at most in readyz', async () => {
  const store = memoryStore();
  let asked = 0;
  const counted = () => {
    asked += 1;
    return store.probe();
  };
  // The time stands still, so that the host does nothing by itself and all probes fall into one second.
  const clock = manualClock();
  const watched = await watchedHost({ ports: { clock }, store: { ...store, probe: counted } });
  await quiet(() => asked);
  const before = asked;
  for (let turn = 0; turn < 50; turn++) await shown(watched, 'livez');
  expect(asked).toBe(before);
  for (let turn = 0; turn < 50; turn++) await shown(watched, 'readyz');
  expect(asked).toBe(before + 1);
  clock.advance(1000);
  await quiet(() => asked);
  const later = asked;
  await shown(watched, 'readyz');
  expect(asked).toBe(later + 1);
});

/**
 * Resolves when the count has not changed in a hundred turns of the event loop: without timers and sockets nothing else
 * can come.
 */
async function quiet(count: () => number): Promise<void> {
  let last = count();
  for (let turns = 0; turns < 100; turns += 1) {
    await yieldToLoop();
    if (count() === last) continue;
    last = count();
    turns = 0;
  }
}

describe('a probe', () => {
  test.each(['livez', 'readyz'])('%s answers without a credential, and says only whether it passes', async (probe) => {
    const watched = await watchedHost();
    const { headers, status } = await probed(watched, probe);
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toEqual({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
    });
    expect(await shown(watched, `${probe}?verbose`)).toEqual(PASSED);
    expect(await shown(watched, probe, 'HEAD')).toEqual({ status: 200, text: '' });
    expect((await shown(watched, probe, 'POST')).status).toBe(405);
    expect(watched.spans()).toEqual([]);
    expect(await watched.series('http.server.request.duration')).toEqual([]);
  });
});

describe('the status of a host', () => {
  test('shows the failed checks and the backlog of the own tenant to a manager of webhooks', async () => {
    const watched = await watchedHost({ webhooks: { durable: true, concurrency: { total: 1, perSubscription: 1 } } });
    const { transport, release } = hanging();
    const busy = await watchedHost({
      webhooks: { durable: true, concurrency: { total: 1, perSubscription: 1 } },
      ports: { transport },
    });
    expect((await watched.call('/host/example/status')).body).toEqual({
      ready: true,
      checks: [
        { name: 'lifecycle', ok: true },
        { name: 'deliveries', ok: true },
        { name: 'store', ok: true },
      ],
      deliveries: { due: 0, countedUpTo: 10_000 },
    });
    await busy.register();
    for (let turn = 0; turn < 5; turn++) await busy.run();
    // Of the five deliveries one is under way.
    const waiting = async () => (await busy.call('/host/example/status')).body;
    await expect.poll(async () => JSON.stringify(await waiting()), { timeout: 25_000 }).toContain('"due":4');
    const body = await waiting();
    expect(body.deliveries).toEqual({
      due: 4,
      countedUpTo: 10_000,
      oldestDueAt: expect.stringMatching(/Z$/),
      oldestDueForMs: expect.any(Number),
    });
    release();
    busy.host.drain();
    const draining = await busy.call('/host/example/status');
    expect(draining.status).toBe(200);
    expect(draining.body).toMatchObject({ ready: false });
    expect(JSON.stringify(draining.body)).toContain('{"name":"lifecycle","ok":false,"reason":"draining"}');
  });

  test('is denied to every other caller', async () => {
    const watched = await watchedHost();
    expect((await watched.call('/host/example/status', STRANGER)).status).toBe(401);
    expect((await watched.call('/host/example/status', { key: READER })).status).toBe(403);
  });

  test('does not show the backlog of another tenant', async () => {
    const { transport, release } = hanging();
    const watched = await watchedHost({
      webhooks: { durable: true, concurrency: { total: 1, perSubscription: 1 } },
      ports: { transport },
    });
    await watched.register();
    for (let turn = 0; turn < 5; turn++) await watched.run();
    const { body } = await watched.call('/host/example/status', { key: OTHER_TENANT });
    expect(body.deliveries).toEqual({ due: 0, countedUpTo: 10_000 });
    release();
  });
});

/** A transport whose receivers answer when `release` is called. */
function hanging() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const transport = async () => {
    await released;
    return { kind: 'answered', status: 204, retryAfter: undefined, durationMs: 1 } as const;
  };
  return { transport, release };
}
