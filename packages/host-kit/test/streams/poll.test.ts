import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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
  ])(`${covers('events.poll.cursor')} With %j`, async (query, expected) => {
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
  ])('%s is refused', async (query) => {
    const refused = await poll(major, query);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ error: 'validation_error', message: expect.stringContaining('query.') });
  });

  describe(covers('events.poll.wait'), () => {
    test('as soon as there is an event', async () => {
      const from = performance.now();
      const waiting = poll(major);
      await eventually(() => serving.host.readers() === 1);
      await serving.append(runId, 'run.started');
      expect(sequences(await waiting)).toEqual([0]);
      expect(performance.now() - from).toBeLessThan(5000);
      expect(serving.host.readers()).toBe(0);
    });

    test('as soon as the run has ended, wherever the caller is', async () => {
      await serving.append(runId, 'run.started');
      const waiting = poll(major, `?${cursor}=900`);
      await eventually(() => serving.host.readers() === 1);
      await serving.append(runId, 'log.appended', 'run.completed');
      expect((await waiting).body).toMatchObject({ events: [], isTerminal: true });
    });

    test('at once when it has ended already', async () => {
      await serving.append(runId, 'run.started', 'run.failed');
      const from = performance.now();
      expect((await poll(major, `?${cursor}=1`)).body).toMatchObject({ events: [], isTerminal: true });
      expect(performance.now() - from).toBeLessThan(900);
    });

    test('with nothing when the time is up', async () => {
      const from = performance.now();
      const polled = await poll(major, '?timeout=1');
      expect([polled.status, sequences(polled)]).toEqual([200, []]);
      expect(performance.now() - from).toBeGreaterThan(950);
      expect(serving.host.readers()).toBe(0);
    });

    test('a caller that leaves leaves nothing behind', async () => {
      const leaving = new AbortController();
      const path = major === 1 ? `/v1/runs/${runId}/events/poll` : `/runs/acme~2F${runId}/events/poll`;
      const headers = { authorization: `Bearer ${KEY}`, 'svc-version': String(major) };
      const waiting = fetch(serving.url + path, { headers, signal: leaving.signal }).catch(() => 'left');
      await eventually(() => serving.host.readers() === 1);
      leaving.abort();
      expect(await waiting).toBe('left');
      await eventually(() => serving.host.readers() === 0);
    });

    test('a host that stops answers', async () => {
      const waiting = poll(major, '?timeout=60');
      await eventually(() => serving.host.readers() === 1);
      serving.host.closeStreams();
      expect((await waiting).body).toMatchObject({ events: [], isTerminal: false });
      expect((await poll(major)).status).toBe(503);
    });
  });

  test('a log that is longer than an answer comes in several', async () => {
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

  test('large events come in smaller answers', async () => {
    const payload = { text: 'x'.repeat(400_000) };
    for (let count = 0; count < 5; count += 1)
      await serving.host.events.append(runId, { type: 'log.appended', payload });
    expect(sequences(await poll(major))).toEqual([0, 1, 2]);
  });
});

describe(covers('events.poll.body', 'events.stream.vocabulary'), () => {
  test('major 1 tells its clients of all ages', async () => {
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

  test('older clients of major 1 begin with -1, and call the cursor since', async () => {
    await serving.append(runId, 'run.started', 'run.completed');
    expect(sequences(await poll(1, '?lastSequence=-1'))).toEqual([0, 1]);
    expect(sequences(await poll(1, '?since=0'))).toEqual([1]);
    expect(sequences(await poll(1, '?lastSequence=1&since=0'))).toEqual([]);
    expect((await poll(2, '?afterSequence=-1')).status).toBe(400);
    expect(sequences(await poll(2, '?lastSequence=1&since=1'))).toEqual([0, 1]);
  });

  test('major 2 is closed', async () => {
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

test('who may not read the run may not poll it, and is not kept waiting', async () => {
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  expect((await poll(1, '', as(OTHER_TENANT))).status).toBe(404);
  expect((await poll(2, '', as(OTHER_TENANT))).body.error).toBe('id_tenant_mismatch');
  expect((await poll(1, '', as(OTHER_WORKSPACE))).body.error).toBe('run_forbidden');
  expect((await poll(1, '', as(`${KEY}x`))).status).toBe(401);
});

test('nobody waits for longer than the credential is good', async () => {
  const fields = { tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1', scopes: ['runs:create', 'runs:read'] };
  const record = { ...fields, id: 'key_1', hash: hashApiKey(KEY), mode: 'live' as const, expiresAt: Date.now() + 1500 };
  await serving.close();
  serving = await serve({ authenticate: [apiKeyLane({ keys: memoryKeyStore([record]), now: Date.now })] });
  runId = await serving.newRun();
  const from = performance.now();
  expect((await poll(1, '?timeout=60')).status).toBe(200);
  expect(performance.now() - from).toBeLessThan(5000);
});
