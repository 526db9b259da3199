import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { createHost, type HostOptions, type LogRecord, type WorkflowEngine } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';

const KEYS = { reader: 'reader-key-of-the-mirror-0123456789', auditor: 'auditor-key-of-the-mirror-012345678' };
const REPORT = '/host/example/versions/mirror';
const LONG_ID = 'run_01k0p3v5tq9d8m2x4c6b8n0r1s';

async function startHost(
  options: Partial<HostOptions> = {},
  describe: WorkflowEngine['describe'] = (id) => ({ workflowId: id }),
  mirrors = true,
) {
  const store = memoryStore();
  const logged: LogRecord[] = [];
  const of = { tenant: 'acme', mode: 'live', workspaces: 'all' } as const;
  const keys = memoryKeyStore([
    { ...of, id: 'key_1', hash: hashApiKey(KEYS.reader), principal: 'p_1', scopes: ['runs:read', 'manifest:read'] },
    { ...of, id: 'key_2', hash: hashApiKey(KEYS.auditor), principal: 'p_2', scopes: ['audit:read'] },
  ]);
  const host = createHost({
    store,
    authenticate: [apiKeyLane({ keys })],
    engine: { execute: () => new Promise(() => {}), describe },
    secretKey: new Uint8Array(32),
    ...options,
    authorization: { hasWorkspace: () => true, ...options.authorization },
    protocol: { ...(mirrors && { mirrorReads: { share: 1 } }), ...options.protocol },
    ports: { log: (record) => logged.push(record), ...options.ports },
  });
  await host.start();
  onTestFinished(() => host.stop(0));
  async function get(path: string, { key = KEYS.reader, major = '1' } = {}) {
    const headers = { authorization: `Bearer ${key}`, 'svc-version': major };
    const response = await host.fetch(new Request(`http://host.test${path}`, { headers }));
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) };
  }
  async function report() {
    const headers = { authorization: `Bearer ${KEYS.auditor}` };
    return (await host.fetch(new Request(`http://host.test${REPORT}`, { headers }))).json();
  }
  /** Waits until so many reads were compared or skipped, and returns the report. */
  async function reported(reads: number) {
    const sum = (list: readonly { compared?: number; reads?: number }[]) =>
      list.reduce((all, { compared = 0, reads: skipped = 0 }) => all + compared + skipped, 0);
    await expect
      .poll(async () => ((found) => sum(found.operations) + sum(found.skipped))(await report()), {
        timeout: 20_000,
        interval: 5,
      })
      .toBe(reads);
    return report();
  }
  async function addRun(runId: string) {
    await store.transaction((transaction) => store.runs.insert(sampleRun({ runId }), transaction));
  }
  return { host, store, logged, get, reported, addRun };
}

test('reads of major 1 are answered in major 2 again, and compared', async () => {
  const { get, reported, addRun } = await startHost();
  await addRun(LONG_ID);
  expect((await get(`/v1/runs/${LONG_ID}`)).status).toBe(200);
  await get('/v1/workflows/echo');
  await get(`/runs/acme~2F${LONG_ID}`, { major: '2' });
  const { operations, differences, skipped, unlisted } = await reported(2);
  expect({ operations, differences, skipped, unlisted }).toEqual({
    operations: expect.arrayContaining([
      { operation: 'readRun', major: 1, compared: 1, different: 0 },
      { operation: 'readWorkflow', major: 1, compared: 1, different: 0 },
    ]),
    ...{ differences: [], skipped: [], unlisted: 0 },
  });
});

test('reads of major 2 are answered in major 1 again where they are chosen', async () => {
  const { get, reported, addRun } = await startHost({
    protocol: { mirrorReads: { share: 1, majors: [2] } },
  });
  await addRun(LONG_ID);
  await get(`/v1/runs/${LONG_ID}`);
  await get(`/runs/acme~2F${LONG_ID}`, { major: '2' });
  const { operations, differences } = await reported(1);
  expect([operations, differences]).toEqual([[{ operation: 'readRun', major: 2, compared: 1, different: 0 }], []]);
});

test('a run whose id major 2 does not accept is a difference, without its id', async () => {
  const { get, reported, addRun } = await startHost();
  await addRun('legacy-run');
  for (const _turn of [1, 2]) expect((await get('/v1/runs/legacy-run')).status).toBe(200);
  const found = await reported(2);
  expect(found.operations).toEqual([{ operation: 'readRun', major: 1, compared: 2, different: 2 }]);
  expect(found.differences).toMatchObject([{ operation: 'readRun', major: 1, pointer: '', kind: 'refused', reads: 2 }]);
  expect(JSON.stringify(found)).not.toMatch(/legacy|acme/);
});

test('an answer that changes with every read is no difference', async () => {
  let reads = 0;
  const { get, reported } = await startHost({}, (workflowId) => ({ workflowId, reads: ++reads }));
  await get('/v1/workflows/echo');
  const { differences, skipped } = await reported(1);
  expect([differences, skipped]).toEqual([[], [{ reason: 'changed', reads: 1 }]]);
});

test('an answer that has changed once is compared as it is now', async () => {
  let reads = 0;
  const { get, reported } = await startHost({}, (workflowId) => ({ workflowId, isFirst: ++reads === 1 }));
  await get('/v1/workflows/echo');
  const { operations, differences } = await reported(1);
  expect([operations[0].compared, differences]).toEqual([1, []]);
});

test('a difference in what an engine gives is reported without its names', async () => {
  // The majors are read in turn, so every second read is that of major 2.
  let reads = 0;
  const described = (workflowId: string) => {
    reads += 1;
    return { workflowId, ...(reads % 2 === 0 && { secretName: 'secret value' }) };
  };
  const { get, reported } = await startHost({}, described);
  await get('/v1/workflows/echo');
  const found = await reported(1);
  // The first two reads are the caller's and that of major 2; the next three begin with major 1 again.
  expect(found.differences).toMatchObject([{ operation: 'readWorkflow', pointer: '/?', kind: 'extra' }]);
  expect(JSON.stringify(found)).not.toContain('secret');
});

test('a read that fails is not compared, and its caller gets the answer', async () => {
  let reads = 0;
  const { get, reported } = await startHost({}, (workflowId) => {
    reads += 1;
    if (reads > 1) throw new Error('The engine has no memory left.');
    return { workflowId };
  });
  expect((await get('/v1/workflows/echo')).body).toEqual({ workflowId: 'echo' });
  expect((await reported(1)).skipped).toEqual([{ reason: 'failed', reads: 1 }]);
});

test('no more reads than allowed are compared at a time', async () => {
  const { get, reported } = await startHost({
    protocol: { mirrorReads: { share: 1, maxConcurrent: 1 } },
  });
  await Promise.all([get('/v1/workflows/a'), get('/v1/workflows/b'), get('/v1/workflows/c')]);
  const { operations, skipped } = await reported(3);
  expect(skipped[0]?.reason).toBe('busy');
  expect(operations[0].compared).toBeGreaterThan(0);
});

test('a mirrored read is neither limited, nor logged, nor counted as a request of the caller', async () => {
  const store = memoryStore();
  const limiter = memoryRateLimiter({ limit: 1000, windowSeconds: 3600, now: Date.now });
  const consumed: string[] = [];
  const consume = (id: string) => {
    consumed.push(id);
    return limiter.consume(id);
  };
  const { host, get, reported, logged } = await startHost({ store, http: { rateLimit: { ...limiter, consume } } });
  await get('/v1/workflows/echo');
  await get('/v1/workflows/echo');
  await reported(2);
  expect(consumed.filter((id) => id === 'key_1')).toHaveLength(2);
  const requests = logged.filter(({ event, keyId }) => event === 'request' && keyId === 'key_1');
  expect(requests).toHaveLength(2);
  await host.stop(0);
  const days = await store.versionUses.days({ tenant: 'acme', mode: 'live' }, 0);
  expect(days).toMatchObject([{ major: 1, requests: 2 }]);
});

describe('the report', () => {
  test('needs audit:read, and no parameter', async () => {
    const { get } = await startHost();
    expect((await get(REPORT)).status).toBe(403);
    expect((await get(`${REPORT}?tenant=acme`, { key: KEYS.auditor })).status).toBe(400);
  });

  test('is not served by a host that compares no reads', async () => {
    const { get } = await startHost({}, undefined, false);
    expect((await get(REPORT, { key: KEYS.auditor })).status).toBe(404);
  });
});

describe('createHost rejects', () => {
  const engine: WorkflowEngine = { execute: () => new Promise(() => {}) };
  const base = {
    authenticate: [apiKeyLane({ keys: memoryKeyStore([]) })],
    secretKey: new Uint8Array(32),
    engine,
  };
  test.each<[string, Partial<HostOptions>, string]>([
    ['no share', { protocol: { mirrorReads: { share: 0 } } }, 'protocol.mirrorReads.share'],
    ['a share above 1', { protocol: { mirrorReads: { share: 1.1 } } }, 'protocol.mirrorReads.share'],
    ['a share that is no number', { protocol: { mirrorReads: { share: Number.NaN } } }, 'protocol.mirrorReads.share'],
    ['half a comparison', { protocol: { mirrorReads: { maxConcurrent: 0.5 } } }, 'protocol.mirrorReads.maxConcurrent'],
    [
      'too many comparisons',
      { protocol: { mirrorReads: { maxConcurrent: 17 } } },
      'protocol.mirrorReads.maxConcurrent',
    ],
    ['no major', { protocol: { mirrorReads: { majors: [] } } }, 'protocol.mirrorReads.majors'],
    [
      'one served major',
      { protocol: { mirrorReads: {}, versions: ['2.0'], preferred: '2.0' } },
      'protocol.mirrorReads: needs both',
    ],
    ['an unknown option', { protocol: { mirrorReads: { rate: 1 } as object } }, 'rate'],
  ])('%s', (_what, options, message) => {
    expect(() => createHost({ ...base, store: memoryStore(), ...options })).toThrow(message);
  });
});
