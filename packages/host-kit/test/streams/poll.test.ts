import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ManualClock, manualClock } from './manual-clock.ts';
import { eventually, KEY, OTHER_TENANT, OTHER_WORKSPACE, type Serving, serve } from './serving.ts';

let serving: Serving;
let runId: string;

beforeEach(async () => {
  serving = await serve();
  runId = await serving.newRun();
});
afterEach(() => serving.close());

type Major = 1 | 2;
const CURSOR = { 1: 'lastSequence', 2: 'afterSequence' } as const;

function poll(major: Major, query = '', headers: Record<string, string> = {}) {
  const path = major === 1 ? `/v1/runs/${runId}/events/poll` : `/runs/acme~2F${runId}/events/poll`;
  return serving.json(path + query, { 'svc-version': String(major), ...headers });
}

const sequences = ({ body }: Awaited<ReturnType<typeof poll>>) =>
  body.events.map(({ sequence }: { sequence: number }) => sequence);

describe.each([1, 2] as const)('in major %i', (major) => {
  const cursor = CURSOR[major];

  test.each([
    ['', [0, 1, 2]],
    [`?${cursor}=0`, [1, 2]],
    [`?${cursor}=1`, [2]],
    [`?${cursor}=2`, []],
    [`?${cursor}=900`, []],
  ])(`${covers('events.poll.cursor')} Returns the events after %j`, async (query, expected) => {
    await serving.append(runId, 'run.started', 'log.appended', 'run.completed');
    const polled = await poll(major, query);
    expect(polled.status).toBe(200);
    expect(sequences(polled)).toEqual(expected);
    expect(polled.headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ...['x', '', '1.5', '1e3', '-2', '9'.repeat(16)].map((value) => `?${cursor}=${value}`),
    `?${cursor}=1&${cursor}=2`,
    ...['0', '61', '-1', 'x', '', '1.5'].map((value) => `?timeout=${value}`),
  ])('rejects %s', async (query) => {
    const refused = await poll(major, query);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ error: 'validation_error', message: expect.stringContaining('query.') });
  });

  describe(covers('events.poll.wait'), () => {
    let clock: ManualClock;
    // The time of the host stands still. A poll that waited for a deadline where it should answer at once would never
    // answer, and the test would fail by its time limit, however slow or fast the machine is.
    beforeEach(async () => {
      await serving.close();
      clock = manualClock();
      serving = await serve({ ports: { clock } });
      runId = await serving.newRun();
    });

    test('answers as soon as an event is appended', async () => {
      const waiting = poll(major);
      await eventually(() => serving.host.readers() === 1);
      await serving.append(runId, 'run.started');
      expect(sequences(await waiting)).toEqual([0]);
      expect(serving.host.readers()).toBe(0);
    });

    test('answers as soon as the run ends, even when the cursor is past the end of the log', async () => {
      await serving.append(runId, 'run.started');
      const waiting = poll(major, `?${cursor}=900`);
      await eventually(() => serving.host.readers() === 1);
      await serving.append(runId, 'log.appended', 'run.completed');
      // Readers are told of the second event 10 ms after the first.
      clock.advance(10);
      expect((await waiting).body).toMatchObject({ events: [], isTerminal: true });
    });

    test('answers at once when the run has already ended', async () => {
      await serving.append(runId, 'run.started', 'run.failed');
      expect((await poll(major, `?${cursor}=1`)).body).toMatchObject({ events: [], isTerminal: true });
    });

    test('answers with no events when the time is up, and not earlier', async () => {
      const waiting = poll(major, '?timeout=1');
      await eventually(() => serving.host.readers() === 1);
      clock.advance(999);
      // Another request takes longer than the end of a poll: one that gave up too early would have left its place by
      // now.
      expect((await serving.json('/.well-known/svc')).status).toBe(200);
      expect(serving.host.readers()).toBe(1);
      clock.advance(1);
      const polled = await waiting;
      expect([polled.status, sequences(polled)]).toEqual([200, []]);
      expect(serving.host.readers()).toBe(0);
    });

    test('frees the place of a caller that disconnects', async () => {
      const leaving = new AbortController();
      const path = major === 1 ? `/v1/runs/${runId}/events/poll` : `/runs/acme~2F${runId}/events/poll`;
      const headers = { authorization: `Bearer ${KEY}`, 'svc-version': String(major) };
      const waiting = fetch(serving.url + path, { headers, signal: leaving.signal }).catch(() => 'left');
      await eventually(() => serving.host.readers() === 1);
      leaving.abort();
      expect(await waiting).toBe('left');
      await eventually(() => serving.host.readers() === 0);
    });

    test('answers waiting polls when the host stops, and rejects further ones with 503', async () => {
      const waiting = poll(major, '?timeout=60');
      await eventually(() => serving.host.readers() === 1);
      serving.host.closeStreams();
      expect((await waiting).body).toMatchObject({ events: [], isTerminal: false });
      expect((await poll(major)).status).toBe(503);
    });
  });

  test('returns a log of 2101 events in answers of up to 1000 events', async () => {
    await serving.append(runId, 'run.started');
    for (let count = 1; count < 2100; count += 1) await serving.append(runId, 'log.appended');
    await serving.append(runId, 'run.completed');
    const seen: number[] = [];
    for (let answers = 1; ; answers += 1) {
      const polled = await poll(major, seen.length === 0 ? '' : `?${cursor}=${seen.at(-1)}`);
      expect(polled.body.events.length).toBeLessThanOrEqual(1000);
      seen.push(...sequences(polled));
      if (polled.body.isTerminal) {
        expect(answers).toBe(3);
        break;
      }
    }
    expect(seen).toEqual(Array.from({ length: 2101 }, (_, sequence) => sequence));
  });

  test('ends an answer after the event that exceeds 1 MiB of payloads', async () => {
    const payload = { level: 'info', message: 'x'.repeat(400_000) };
    for (let count = 0; count < 5; count += 1)
      await serving.host.events.append(runId, { type: 'log.appended', payload });
    expect(sequences(await poll(major))).toEqual([0, 1, 2]);
  });
});

describe(covers('events.poll.body', 'events.stream.vocabulary'), () => {
  test('answers in major 1 with its older and its newer field names', async () => {
    await serving.append(runId, 'run.started', 'agent.tool-called');
    const { body } = await poll(1);
    const events = [
      expect.objectContaining({ runId, sequence: 0 }),
      expect.objectContaining({ type: 'agent.toolCalled' }),
    ];
    const rest = { lastEventSeq: 1, runStatus: 'running', isTerminal: false };
    expect(body).toEqual({ runId, events, isComplete: false, ...rest });
    await serving.append(runId, 'run.completed');
    expect((await poll(1, '?since=1')).body).toMatchObject({
      isComplete: true,
      lastEventSeq: 2,
      runStatus: 'completed',
    });
  });

  test('accepts -1 and the older name "since" for the cursor, in major 1 only', async () => {
    await serving.append(runId, 'run.started', 'run.completed');
    expect(sequences(await poll(1, '?lastSequence=-1'))).toEqual([0, 1]);
    expect(sequences(await poll(1, '?since=0'))).toEqual([1]);
    expect(sequences(await poll(1, '?lastSequence=1&since=0'))).toEqual([]);
    expect((await poll(2, '?afterSequence=-1')).status).toBe(400);
    expect(sequences(await poll(2, '?lastSequence=1&since=1'))).toEqual([0, 1]);
  });

  test('answers in major 2 with exactly the fields of its schema', async () => {
    expect((await poll(2, '?timeout=1')).body).toEqual({
      ...{ runId: `acme/${runId}`, events: [], lastSequence: -1, status: 'pending', isTerminal: false },
    });
    await serving.append(runId, 'run.started', 'agent.tool-called', 'run.completed');
    const { body } = await poll(2, '?afterSequence=0');
    expect(body).toEqual({
      ...{ runId: `acme/${runId}`, lastSequence: 2, status: 'completed', isTerminal: true },
      events: [
        expect.objectContaining({ runId: `acme/${runId}`, type: 'agent.tool-called', schemaVersion: 1 }),
        expect.objectContaining({ type: 'run.completed' }),
      ],
    });
  });
});

test('rejects a caller that may not read the run, without waiting', async () => {
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  expect((await poll(1, '', as(OTHER_TENANT))).status).toBe(404);
  expect((await poll(2, '', as(OTHER_TENANT))).body.error).toBe('id_tenant_mismatch');
  expect((await poll(1, '', as(OTHER_WORKSPACE))).body.error).toBe('run_forbidden');
  expect((await poll(1, '', as(`${KEY}x`))).status).toBe(401);
});

test('answers when the credential expires, before the time of the poll is up', async () => {
  const clock = manualClock();
  const fields = { tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1', scopes: ['runs:create', 'runs:read'] };
  const expiresAt = clock.now() + 1500;
  const record = { ...fields, id: 'key_1', hash: hashApiKey(KEY), mode: 'live' as const, expiresAt };
  await serving.close();
  serving = await serve({
    ports: { clock },
    authenticate: [apiKeyLane({ keys: memoryKeyStore([record]), now: clock.now })],
  });
  runId = await serving.newRun();
  const waiting = poll(1, '?timeout=60');
  await eventually(() => serving.host.readers() === 1);
  // A poll that waited for its own 60 s would not answer: the time of the host stands still from here on.
  clock.advance(1500);
  expect((await waiting).status).toBe(200);
});
