import type { Lane } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { type Clock, type Store, systemClock } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ManualClock, manualClock } from './manual-clock.ts';
import { eventually, KEY, OTHER_TENANT, OTHER_WORKSPACE, type Serving, type Stream, serve } from './serving.ts';

let serving: Serving;
let runId: string;

beforeEach(() => begin());
afterEach(() => serving.close());

async function begin(...options: Parameters<typeof serve>): Promise<void> {
  serving = await serve(...options);
  runId = await serving.newRun();
}

/** Replaces the host by one with other options. */
async function beginAgain(...options: Parameters<typeof serve>): Promise<void> {
  await serving.close();
  await begin(...options);
}

type Major = 1 | 2;

/** Opens a stream of the run's events, in a major. */
function openEvents(major: Major, query = '', headers: Record<string, string> = {}): Promise<Stream> {
  const path = major === 1 ? `/v1/runs/${runId}/events` : `/runs/acme~2F${runId}/events`;
  return serving.open(path + query, { 'svc-version': String(major), ...headers });
}

/** The messages of a stream that ends by itself. */
async function whole(...asked: Parameters<typeof openEvents>) {
  const stream = await openEvents(...asked);
  expect(await stream.ended).toBe('ended');
  return stream.messages;
}

/** A clock that stands still, and a store that notes the sequence of each event that streams have read. */
function stoppedWorld(): { clock: ManualClock; store: Store; read: Set<number> } {
  const inner = memoryStore();
  const read = new Set<number>();
  const list: Store['events']['list'] = async (run, page) => {
    const events = await inner.events.list(run, page);
    for (const { sequence } of events) read.add(sequence);
    return events;
  };
  return { clock: manualClock(), store: { ...inner, events: { ...inner.events, list } }, read };
}

const ids = (messages: Stream['messages']) => messages.map(({ id }) => Number(id));
const names = (messages: Stream['messages']) => messages.map(({ event }) => event);

describe(covers('events.stream.ends-with-run', 'events.stream.frames'), () => {
  test('sends the stored events, then each new one, then ends with the run', async () => {
    await serving.append(runId, 'run.started', 'node.completed');
    const stream = await openEvents(1);
    await stream.count(2);
    await serving.append(runId, 'node.failed');
    await stream.count(3);
    await serving.append(runId, 'run.completed');
    expect(await stream.ended).toBe('ended');
    expect(stream.messages.map(({ id, event }) => [id, event])).toEqual([
      ['0', 'run.started'],
      ['1', 'node.completed'],
      ['2', 'node.failed'],
      ['3', 'run.completed'],
    ]);
    expect(serving.host.readers()).toBe(0);
  });

  test.each(['run.completed', 'run.failed', 'run.cancelled'])(
    'sends the whole log of a run that ended by %s, and ends',
    async (end) => {
      await serving.append(runId, 'run.started', end);
      expect(names(await whole(1))).toEqual(['run.started', end]);
    },
  );

  test('ends with the run in a mode that does not show its last event', async () => {
    const stream = await openEvents(2, '?streamMode=messages');
    await serving.append(runId, 'run.started', 'output.chunk', 'run.completed');
    expect(await stream.ended).toBe('ended');
    expect(names(stream.messages)).toEqual(['ai.message.chunk']);
  });

  test('sends the first event to a reader that came before it', async () => {
    const stream = await openEvents(1);
    await serving.append(runId, 'run.started');
    await stream.count(1);
    expect(ids(stream.messages)).toEqual([0]);
  });

  test('keeps line breaks in events from starting frames of their own', async () => {
    const payload = { level: 'info', message: 'one\n\ndata: two\r\nid: 9' };
    await serving.append(runId, 'run.started');
    await serving.host.events.append(runId, { type: 'log.appended', payload });
    await serving.append(runId, 'run.completed');
    const messages = await whole(1, '?streamMode=debug');
    expect(ids(messages)).toEqual([0, 1, 2]);
    expect(messages[1]?.data).toMatchObject({ payload });
  });
});

test(covers('events.stream.headers'), async () => {
  await serving.append(runId, 'run.started', 'run.completed');
  for (const major of [1, 2] as const) {
    const stream = await openEvents(major);
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'svc-version': major === 1 ? '1.1' : '2.0',
    });
    expect(stream.headers['content-length']).toBeUndefined();
    await stream.ended;
  }
});

describe(covers('events.stream.vocabulary', 'events.shape.fields', 'events.shape.engine-version-integer'), () => {
  beforeEach(() => serving.append(runId, 'run.started', 'agent.tool-called', 'run.completed'));

  test.each([
    [1, 'agent.toolCalled', (id: string) => id],
    [2, 'agent.tool-called', (id: string) => `acme/${id}`],
  ] as const)('uses the event names and run ids of major %i', async (major, name, named) => {
    const messages = await whole(major, '?streamMode=debug');
    expect(names(messages)).toEqual(['run.started', name, 'run.completed']);
    expect(messages[1]?.data).toEqual({
      eventId: expect.stringMatching(/^[A-Za-z0-9._~-]{16,128}$/),
      runId: named(runId),
      type: name,
      sequence: 1,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      payload: {},
      schemaVersion: 1,
      engineVersion: 1,
    });
  });
});

describe(covers('events.stream.modes'), () => {
  const HAPPENED = [
    ...['run.started', 'node.started', 'output.chunk', 'node.retried', 'log.appended', 'variable.changed'],
    ...['node.suspended', 'interrupt.requested', 'approval.requested', 'interrupt.resolved', 'node.resumed'],
    ...['artifact.created', 'node.completed', 'lease.renewed', 'version.pinned', 'workspace.updated', 'run.completed'],
  ];
  const UPDATES = [
    ...['run.started', 'node.suspended', 'interrupt.requested', 'approval.requested', 'interrupt.resolved'],
    ...['artifact.created', 'node.completed', 'workspace.updated', 'run.completed'],
  ];
  beforeEach(() => serving.append(runId, ...HAPPENED));

  test.each([1, 2] as const)('shows the events of each mode in major %i', async (major) => {
    expect(names(await whole(major))).toEqual(UPDATES);
    expect(names(await whole(major, '?streamMode=updates'))).toEqual(UPDATES);
    expect(names(await whole(major, '?streamMode=debug'))).toEqual(HAPPENED);
    const messages = await whole(major, '?streamMode=messages');
    expect(messages).toEqual([{ id: '2', event: 'ai.message.chunk', data: { nodeId: 'n', chunk: 'text' } }]);
  });

  test.each([1, 2] as const)(
    `${covers('events.stream.mixed-names')} Sends each event once and in order in major %i`,
    async (major) => {
      const mixed = await whole(major, '?streamMode=updates,messages');
      expect(ids(mixed)).toEqual([0, 2, 6, 7, 8, 9, 11, 12, 15, 16]);
      expect(new Set(names(mixed))).toEqual(new Set(['updates', 'messages']));
      expect(mixed[1]).toMatchObject({ event: 'messages', data: { chunk: 'text' } });
      expect(mixed[0]).toMatchObject({ event: 'updates', data: { type: 'run.started' } });

      const all = await whole(major, '?streamMode=debug,updates,messages');
      expect(ids(all)).toEqual(HAPPENED.map((_, sequence) => sequence));
      expect(all[1]).toMatchObject({ event: 'debug', data: { type: 'node.started' } });
    },
  );

  test(`${covers('events.stream.values')} Sends a snapshot in major 1 also when a node starts`, async () => {
    const [v1, v2] = [await whole(1, '?streamMode=values'), await whole(2, '?streamMode=values')];
    for (const messages of [v1, v2]) expect(new Set(names(messages))).toEqual(new Set(['state.snapshot']));
    expect(ids(v2)).toEqual([0, 6, 7, 8, 9, 11, 12, 15, 16]);
    expect(ids(v1)).toEqual([0, 1, ...ids(v2).slice(1)]);
    expect(v1[0]?.data).toMatchObject({ runId, status: 'running', startedAt: expect.any(String) });
    expect(v1[0]?.data).not.toHaveProperty('completedAt');
    expect(v1.at(-1)?.data).toMatchObject({ status: 'completed', completedAt: expect.any(String) });
    expect(v2.at(-1)?.data).toMatchObject({ runId: `acme/${runId}`, status: 'completed' });
  });
});

describe(covers('events.stream.unsupported-mode'), () => {
  test.each(['', 'all', 'values,updates', 'updates,', 'updates,everything', 'Updates', ' updates'])(
    'rejects %j',
    async (mode) => {
      for (const major of [1, 2] as const) {
        // The mode is judged before the Accept header and before the run is looked up.
        const refused = await openEvents(major, `?streamMode=${encodeURIComponent(mode)}`, { accept: 'text/html' });
        await refused.ended;
        expect(refused.status).toBe(400);
        expect(JSON.parse(refused.text())).toMatchObject({
          error: 'unsupported_stream_mode',
          details: { supported: ['values', 'updates', 'messages', 'debug'] },
        });
      }
    },
  );

  test('rejects a mode that is given twice', async () => {
    expect((await openEvents(1, '?streamMode=debug&streamMode=debug')).status).toBe(400);
  });
});

describe(covers('events.stream.batches'), () => {
  test(`${covers('operations.runs.buffer-limit')} Rejects every bufferMs but 0 to 5000`, async () => {
    for (const bufferMs of ['5001', '-1', '1.5', 'x', '']) {
      const refused = await openEvents(1, `?bufferMs=${bufferMs}`);
      await refused.ended;
      expect(refused.status, bufferMs).toBe(400);
      expect(refused.text()).toContain('query.bufferMs');
    }
    expect((await openEvents(2, '?bufferMs=5000')).status).toBe(200);
  });

  test('holds events back for bufferMs, and sends them as one batch', async () => {
    const { clock, store, read } = stoppedWorld();
    await beginAgain({ ports: { clock }, store });
    const stream = await openEvents(1, '?bufferMs=300&streamMode=debug');
    await eventually(() => stream.comments.length > 0);
    await serving.append(runId, 'run.started');
    await eventually(() => read.has(0));
    clock.advance(10);
    await serving.append(runId, 'node.started');
    await eventually(() => read.has(1));
    // The time stands still 1 ms before the batch is due. One that was sent early would not have the third event.
    clock.advance(289);
    await serving.append(runId, 'node.completed');
    await eventually(() => read.has(2));
    clock.advance(1);
    await stream.count(1);
    expect(stream.messages).toMatchObject([
      { id: '2', event: 'batch', data: [{ sequence: 0 }, { sequence: 1 }, { sequence: 2 }] },
    ]);
  });

  test.each(['node.suspended', 'run.completed'])('sends the held events at once with %s', async (urgent) => {
    const stream = await openEvents(2, '?bufferMs=5000&streamMode=debug');
    await eventually(() => stream.comments.length > 0);
    await serving.append(runId, 'run.started', urgent);
    await stream.count(1);
    expect(stream.messages).toMatchObject([{ id: '1', event: 'batch', data: [{}, { type: urgent }] }]);
  });

  test('resumes after the id of a batch, which is its highest sequence', async () => {
    await serving.append(runId, 'run.started', 'node.completed', 'log.appended', 'node.suspended');
    const stream = await openEvents(1, '?bufferMs=5000');
    await stream.count(1);
    expect(stream.messages).toMatchObject([{ id: '3', event: 'batch', data: [{}, {}, { type: 'node.suspended' }] }]);
    stream.leave();
    await serving.append(runId, 'node.completed', 'run.completed');
    const resumed = await whole(1, '', { 'last-event-id': '3' });
    expect(ids(resumed)).toEqual([4, 5]);
  });

  test('sends a long log in several batches', async () => {
    await serving.append(runId, 'run.started');
    for (let count = 1; count < 600; count += 1) await serving.append(runId, 'log.appended');
    await serving.append(runId, 'run.completed');
    const batches = await whole(1, '?bufferMs=1000&streamMode=debug');
    const sequences = batches.flatMap(({ data }) => (data as { sequence: number }[]).map(({ sequence }) => sequence));
    expect(sequences).toEqual(Array.from({ length: 601 }, (_, sequence) => sequence));
  });

  test('sends the held events when the host stops', async () => {
    const { clock, store, read } = stoppedWorld();
    await beginAgain({ ports: { clock }, store });
    const stream = await openEvents(1, '?bufferMs=5000');
    await eventually(() => stream.comments.length > 0);
    await serving.append(runId, 'run.started');
    // Without this the host could stop before the stream holds the event.
    await eventually(() => read.has(0));
    serving.host.closeStreams();
    expect(await stream.ended).toBe('ended');
    expect(stream.messages).toMatchObject([{ id: '0', event: 'batch' }]);
  });
});

describe(covers('events.stream.resume'), () => {
  test.each([
    ['0', [1, 2, 3]],
    ['1', [2, 3]],
    ['2', [3]],
    ['3', []],
    ['99', []],
    ['', [0, 1, 2, 3]],
  ])('sends the events after %j', async (after, expected) => {
    await serving.append(runId, 'run.started', 'node.completed', 'node.completed', 'run.completed');
    for (const major of [1, 2] as const) {
      expect(ids(await whole(major, '', { 'last-event-id': after }))).toEqual(expected);
      expect(ids(await whole(major, '?streamMode=debug', { 'last-event-id': after }))).toEqual(expected);
    }
  });

  test('resumes in a run that goes on', async () => {
    await serving.append(runId, 'run.started', 'node.completed');
    const stream = await openEvents(1, '', { 'last-event-id': '1' });
    await eventually(() => stream.comments.length > 0);
    await serving.append(runId, 'node.completed', 'run.completed');
    expect(await stream.ended).toBe('ended');
    expect(ids(stream.messages)).toEqual([2, 3]);
  });

  test('sends nothing to a cursor ahead of the log, and ends with the run', async () => {
    await serving.append(runId, 'run.started');
    const stream = await openEvents(1, '', { 'last-event-id': '50' });
    await eventually(() => stream.comments.length > 0);
    await serving.append(runId, 'node.completed', 'run.completed');
    expect(await stream.ended).toBe('ended');
    expect(stream.messages).toEqual([]);
  });

  test('begins in mode values with the run as it stood at the cursor', async () => {
    await serving.append(runId, 'run.started', 'run.paused', 'run.resumed', 'run.completed');
    const messages = await whole(1, '?streamMode=values', { 'last-event-id': '1' });
    expect(messages.map(({ id, data }) => [id, (data as { status: string }).status])).toEqual([
      ['1', 'paused'],
      ['2', 'running'],
      ['3', 'completed'],
    ]);
  });

  test.each<[string, string]>([
    ['', '3'],
    ['', '99'],
    ['?streamMode=values', '3'],
    ['?streamMode=debug&bufferMs=50', '3'],
    ['?streamMode=messages', '1'],
  ])(
    `${covers('events.stream.ended')} answers 204 to %s after %s, when an ended run has nothing to show after it`,
    async (query, after) => {
      await serving.append(runId, 'run.started', 'output.chunk', 'node.completed', 'run.completed');
      for (const major of [1, 2] as const) {
        const stream = await openEvents(major, query, { 'last-event-id': after });
        expect([stream.status, await stream.ended, stream.text()]).toEqual([204, 'ended', '']);
        expect((await openEvents(major, query, { 'last-event-id': '0' })).status).toBe(200);
        expect((await openEvents(major, query)).status).toBe(200);
      }
    },
  );

  test('answers 204 to a reader of messages when many other events follow', async () => {
    const others = Array<string>(600).fill('log.appended');
    await serving.append(runId, 'run.started', 'output.chunk', ...others, 'output.chunk', ...others, 'run.completed');
    const stream = await openEvents(2, '?streamMode=messages', { 'last-event-id': '1' });
    await stream.ended;
    expect([stream.status, ids(stream.messages)]).toEqual([200, [602]]);
    expect((await openEvents(2, '?streamMode=messages', { 'last-event-id': '602' })).status).toBe(204);
  });

  test.each(['-1', '1.5', 'abc', '1 2', '1,2', '9'.repeat(16), '0x10'])('rejects %j', async (id) => {
    const refused = await openEvents(1, '', { 'last-event-id': id });
    await refused.ended;
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text())).toMatchObject({ error: 'validation_error' });
  });
});

describe(covers('events.stream.keep-alive'), () => {
  test('sends a keep-alive comment at once', async () => {
    const stream = await openEvents(1);
    await eventually(() => stream.comments.length === 1);
    expect(stream.comments).toEqual([':keepalive']);
  });

  test('sends one whenever nothing else was sent for keepAliveMs', async () => {
    await beginAgain({ http: { streams: { keepAliveMs: 40 } } });
    const stream = await openEvents(1);
    await eventually(() => stream.comments.length > 3);
    await serving.append(runId, 'run.started', 'run.completed');
    expect(await stream.ended).toBe('ended');
    expect(names(stream.messages)).toEqual(['run.started', 'run.completed']);
  });

  test('sends one also while events are appended that the stream does not show', async () => {
    const { clock, store, read } = stoppedWorld();
    await beginAgain({ ports: { clock }, store, http: { streams: { keepAliveMs: 40 } } });
    const stream = await openEvents(1, '?streamMode=messages');
    for (let comments = 1; comments < 5; comments += 1) {
      await eventually(() => stream.comments.length === comments);
      // An event half way to the keep-alive must not delay it: otherwise the next comment would never come.
      clock.advance(20);
      await serving.append(runId, 'log.appended');
      await eventually(() => read.has(comments - 1));
      clock.advance(20);
    }
    expect(stream.messages).toEqual([]);
  });

  test('rejects a keepAliveMs of more than 30 s', async () => {
    await expect(serve({ http: { streams: { keepAliveMs: 30_001 } } })).rejects.toThrow(
      'createHost: http.streams.keepAliveMs must be a whole number of milliseconds from 1 to 30000.',
    );
  });
});

describe(covers('events.stream.json-instead'), () => {
  test.each([
    ['application/json', true],
    ['text/html, application/json;q=0.9', true],
    ['text/event-stream;q=0, application/json', true],
    ['*/*', false],
    ['text/*', false],
    ['application/json, Text/Event-Stream', false],
  ])('answers Accept: %s with JSON: %s', async (accept, isJson) => {
    await serving.append(runId, 'run.started', 'log.appended');
    const stream = await openEvents(1, '', { accept });
    expect(stream.headers.vary).toBe('Accept');
    if (!isJson) return expect(stream.headers['content-type']).toBe('text/event-stream');
    await stream.ended;
    expect(stream.headers['content-type']).toBe('application/json');
    expect(JSON.parse(stream.text())).toMatchObject({ runId, isComplete: false, events: [{}, {}] });
  });

  test('starts after Last-Event-ID, and does not wait', async () => {
    await serving.append(runId, 'run.started');
    const page = await openEvents(1, '', { accept: 'application/json', 'last-event-id': '0' });
    await page.ended;
    expect(JSON.parse(page.text())).toMatchObject({ events: [], isComplete: false, lastEventSeq: 0 });
  });
});

describe('access', () => {
  beforeEach(() => serving.append(runId, 'run.started', 'run.completed'));
  const headersOf = (key: string) => ({ authorization: `Bearer ${key}` });

  test.each([
    ['of another tenant', OTHER_TENANT, 404, 403],
    ['of another workspace', OTHER_WORKSPACE, 403, 403],
    ['unknown', `${KEY}x`, 401, 401],
  ])('is denied to a credential %s', async (_, key, v1, v2) => {
    expect((await openEvents(1, '', headersOf(key))).status).toBe(v1);
    expect((await openEvents(2, '', headersOf(key))).status).toBe(v2);
    expect(serving.host.readers()).toBe(0);
  });

  test('is not found for a run that does not exist', async () => {
    expect((await serving.open('/v1/runs/run_nothing_of_that_kind/events')).status).toBe(404);
  });

  test('opens no stream for a HEAD request', async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    const response = await fetch(`${serving.url}/v1/runs/${runId}/events`, { method: 'HEAD', headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(serving.host.readers()).toBe(0);
  });
});

describe(covers('events.stream.places'), () => {
  const PLACES = { perRun: 2, perCredential: 3, total: 4 };
  beforeEach(() => beginAgain({ http: { streams: { readerLimits: PLACES } } }));

  test.each([1, 2] as const)('limits the readers of a run in major %i', async (major) => {
    const streams = [await openEvents(major), await openEvents(major)];
    const refused = await openEvents(major);
    await refused.ended;
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const { error, details } = JSON.parse(refused.text());
    expect(error).toBe('rate_limited');
    expect(details).toMatchObject({ limit: 2, current: 2 });
    expect('retryAfterSeconds' in details).toBe(major === 1);

    streams[0]?.leave();
    await eventually(() => serving.host.readers() === 1);
    expect((await openEvents(major)).status).toBe(200);
  });

  test('limits the streams and waiting polls of a credential, over all runs', async () => {
    const runs = [runId, await serving.newRun(), await serving.newRun(), await serving.newRun()];
    await serving.open(`/v1/runs/${runs[0]}/events`);
    await serving.open(`/v1/runs/${runs[1]}/events`);
    const waiting = serving.json(`/v1/runs/${runs[2]}/events/poll`);
    await eventually(() => serving.host.readers() === 3);
    expect((await serving.open(`/v1/runs/${runs[3]}/events`)).status).toBe(429);
    expect((await serving.json(`/v1/runs/${runs[3]}/events/poll`)).status).toBe(429);
    // A poll that need not wait takes no place.
    await serving.append(runs[3] ?? '', 'run.started');
    expect((await serving.json(`/v1/runs/${runs[3]}/events/poll`)).status).toBe(200);
    await serving.append(runs[2] ?? '', 'run.started');
    expect((await waiting).status).toBe(200);
  });
});

describe(covers('events.stream.credential'), () => {
  const record = {
    ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' },
    ...{ scopes: ['runs:create', 'runs:read'], mode: 'live' as const },
  };

  test('ends a stream when its credential expires', async () => {
    const clock = manualClock();
    const keys = memoryKeyStore([{ ...record, expiresAt: clock.now() + 1500 }]);
    await beginAgain({ ports: { clock }, authenticate: [apiKeyLane({ keys, now: clock.now })] });
    const stream = await openEvents(1);
    await eventually(() => stream.comments.length > 0);
    // The credential is judged again every 30 s only: a stream that did not know its expiry would not end.
    clock.advance(1500);
    expect(await stream.ended).toBe('ended');
    expect(serving.host.readers()).toBe(0);
    expect(serving.logged).toContainEqual(expect.objectContaining({ event: 'stream.closed', outcome: 'refused' }));
  });

  test.each([
    ['revoked', { revokedAt: 1 }],
    ['without its scope', { scopes: ['runs:create'] }],
    ['moved to another workspace', { workspaces: ['acme-dev'] }],
  ])('ends a stream within judgeEveryMs after its credential is %s, and not before', async (_, change) => {
    const clock = manualClock();
    let current: typeof record = record;
    let judged = 0;
    const keys = {
      candidates: () => {
        judged += 1;
        return [current];
      },
    };
    const authenticate = [apiKeyLane({ keys })];
    await beginAgain({ ports: { clock }, authenticate, http: { streams: { judgeEveryMs: 100 } } });
    const stream = await openEvents(1);
    await serving.append(runId, 'run.started');
    await stream.count(1);
    for (let round = 0; round < 2; round += 1) {
      const before = judged;
      clock.advance(100);
      await eventually(() => judged > before);
    }
    expect(serving.host.readers()).toBe(1);
    current = { ...record, ...change };
    clock.advance(100);
    expect(await stream.ended).toBe('ended');
    await serving.append(runId, 'node.completed');
    expect(stream.messages).toHaveLength(1);
  });

  test('ends a stream when the key store is down', async () => {
    let isDown = false;
    const keys = {
      candidates: () => {
        if (isDown) throw new Error('down');
        return [record];
      },
    };
    await beginAgain({ authenticate: [apiKeyLane({ keys })], http: { streams: { judgeEveryMs: 50 } } });
    const stream = await openEvents(1);
    isDown = true;
    expect(await stream.ended).toBe('ended');
  });
});

describe(`${covers('events.stream.credential')} A proof of possession`, () => {
  test('is not judged again; its stream ends after five minutes', async () => {
    let judged = 0;
    let ahead = 0;
    const subject = { issuer: 'urn:test', subjectId: 'p_1', tenant: 'acme', lane: 'test', kind: 'workload' as const };
    const lane: Lane = {
      name: 'test',
      advertises: [{ kind: 'api-key', issuer: 'urn:test' }],
      authenticate() {
        judged += 1;
        const tenancy = { tenant: 'acme', workspaces: 'all' as const, mode: 'live' as const };
        const proven = { id: 'p_1', kind: undefined, credentialId: 'key_1', lane: 'test', binding: 'dpop' as const };
        return { kind: 'authenticated', principal: { ...proven, tenancy, scopes: ['runs:*'], subject } };
      },
    };
    const { now, monotonic, after } = systemClock;
    const clock: Clock = { now: () => now() + ahead, monotonic: () => monotonic() + ahead, after };
    await beginAgain({
      authenticate: [lane],
      ports: { clock },
      http: { streams: { keepAliveMs: 30, judgeEveryMs: 30 } },
    });
    const stream = await openEvents(1);
    const before = judged;
    await eventually(() => stream.comments.length > 5);
    expect(judged).toBe(before);
    // The rest of the five minutes is more than the time that the next comments take.
    ahead = 200_000;
    const seen = stream.comments.length;
    await eventually(() => stream.comments.length > seen + 1);
    ahead = 301_000;
    expect(await stream.ended).toBe('ended');
  });
});

describe('the end of a stream', () => {
  test('frees the places of readers that disconnect', async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => openEvents(1)));
    await eventually(() => serving.host.readers() === 20);
    for (const stream of streams) stream.leave();
    await eventually(() => serving.host.readers() === 0);
    await serving.append(runId, 'run.started');
  });

  test('cancels the timers of streams and polls whose callers disconnect', async () => {
    let timers = 0;
    const clock: Clock = {
      now: systemClock.now,
      monotonic: systemClock.monotonic,
      after(ms, run) {
        timers += 1;
        let isSet = true;
        const unset = () => {
          if (isSet) timers -= 1;
          isSet = false;
        };
        const cancel = systemClock.after(ms, () => {
          unset();
          run();
        });
        return () => {
          unset();
          cancel();
        };
      },
    };
    await beginAgain({ ports: { clock } });
    const before = timers;
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${KEY}` };
    const polls = Array.from({ length: 10 }, () =>
      fetch(`${serving.url}/v1/runs/${runId}/events/poll`, { headers, signal: leaving.signal }).catch(() => undefined),
    );
    const streams = await Promise.all(Array.from({ length: 10 }, () => openEvents(2, '?bufferMs=5000')));
    await eventually(() => serving.host.readers() === 20 && timers >= before + 20);
    for (const stream of streams) stream.leave();
    leaving.abort();
    await Promise.all(polls);
    await eventually(() => serving.host.readers() === 0 && timers <= before);
  });

  test('frees the place of a reader that disconnects in the middle of a long log', async () => {
    for (let count = 0; count < 2000; count += 1) await serving.append(runId, 'log.appended');
    const stream = await openEvents(1, '?streamMode=debug');
    await stream.count(10);
    stream.leave();
    await eventually(() => serving.host.readers() === 0);
  });

  test('comes when the host stops', async () => {
    const stream = await openEvents(1);
    const stopped = serving.host.stop(5000);
    expect(await stream.ended).toBe('ended');
    await stopped;
    expect(serving.host.readers()).toBe(0);
  });

  test('leaves new readers with 503 while the host stops', async () => {
    serving.host.closeStreams();
    const refused = await openEvents(2);
    await refused.ended;
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(JSON.parse(refused.text())).toMatchObject({ error: 'service_unavailable' });
  });

  test('comes when the body of a fetch is cancelled', async () => {
    await serving.append(runId, 'run.started');
    const headers = { authorization: `Bearer ${KEY}` };
    const response = await serving.host.fetch(new Request(`${serving.url}/v1/runs/${runId}/events`, { headers }));
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toBe(':keepalive\n\n');
    expect(serving.host.readers()).toBe(1);
    await reader?.cancel();
    expect(serving.host.readers()).toBe(0);
  });
});

test(covers('events.discovery.transports'), async () => {
  await serving.append(runId, 'run.started', 'run.completed');
  const v1 = (await serving.json('/.well-known/svc')).body;
  expect(v1).toMatchObject({ supportedTransports: ['rest', 'sse'], eventLog: { transports: ['poll', 'sse'] } });
  for (const mode of v1.streamModes) expect((await openEvents(1, `?streamMode=${mode}`)).status).toBe(200);
  const v2 = (await serving.json('/.well-known/svc', { 'svc-version': '2' })).body;
  expect(v2.eventLog).toMatchObject({ transports: ['poll', 'sse'], status: 'stable' });
});
