import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { covers } from '@svc/tools/covers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AcmeHost, type CallOptions, DEV, KEY, OTHER_TENANT, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({});
});
afterEach(() => host.clear());
afterAll(() => host.stop());

const newRun = { workflowId: 'echo', inputs: { hello: 'world' } };
const hook = () => ({ url: host.receiver.url, events: ['run.completed'], tenantId: 'acme-prod' });
const keyed = (key: string, options: CallOptions = {}) => ({ ...options, headers: { 'idempotency-key': key } });
const isReplay = ({ headers }: { headers: Headers }) => headers.get('svc-idempotent-replay') === 'true';

let earlierRuns = 0;
beforeEach(() => {
  earlierRuns = rowsOf('runs').length;
});
const newRuns = () => rowsOf('runs').length - earlierRuns;

/** Reads the committed rows of a table. */
function rowsOf(table: 'runs' | 'subscriptions' | 'idempotency_keys') {
  const database = new DatabaseSync(host.path('svc.db'), { timeout: 10_000, readOnly: true });
  try {
    return database.prepare(`SELECT * FROM ${table}`).all();
  } finally {
    database.close();
  }
}

describe(covers('operations.idempotency.every-mutation', 'operations.idempotency.replay-marker'), () => {
  test.each([
    ['1', '/v1/runs'],
    ['2', '/runs'],
  ])('creating in major %s', async (major, path) => {
    const key = randomUUID();
    const first = await host.call(path, keyed(key, { major, body: newRun }));
    const again = await host.call(path, keyed(key, { major, body: newRun }));
    expect([first.status, isReplay(first)]).toEqual([201, false]);
    expect([again.status, isReplay(again), again.body]).toEqual([201, true, first.body]);
    expect(newRuns()).toBe(1);
    const other = await host.call(path, keyed(randomUUID(), { major, body: newRun }));
    expect(other.body.runId).not.toBe(first.body.runId);
  });

  test(`a repeated registration shows the same secret: ${covers('operations.idempotency.sealed')}`, async () => {
    const key = randomUUID();
    const first = await host.call('/v1/webhooks', keyed(key, { body: hook() }));
    const again = await host.call('/v1/webhooks', keyed(key, { body: hook() }));
    expect([first.status, first.body.secret]).toEqual([201, expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect([again.status, isReplay(again), again.body]).toEqual([201, true, first.body]);
    expect(rowsOf('subscriptions')).toHaveLength(1);
    const stored = Buffer.concat(rowsOf('idempotency_keys').flatMap((row) => Object.values(row).map(bytesOf)));
    expect([stored.includes(first.body.secret), stored.includes(key)]).toEqual([false, false]);
    expect(host.stderr().join('\n')).not.toContain(key);
  });

  test('a repeated unregistration answers 204, not 404', async () => {
    const { webhookId } = (await host.call('/v1/webhooks', { body: hook() })).body;
    const path = `/v1/webhooks/${webhookId}?tenantId=acme-prod`;
    const key = randomUUID();
    const first = await host.call(path, keyed(key, { method: 'DELETE' }));
    const again = await host.call(path, keyed(key, { method: 'DELETE' }));
    expect([first.status, again.status, isReplay(again)]).toEqual([204, 204, true]);
    expect((await host.call(path, { method: 'DELETE' })).status).toBe(404);
  });

  test('a read ignores the key', async () => {
    const { runId } = (await host.call('/v1/runs', { body: newRun })).body;
    const answer = await host.call(`/v1/runs/${runId}`, keyed('!'));
    expect([answer.status, isReplay(answer)]).toEqual([200, false]);
  });
});

function bytesOf(value: unknown): Buffer {
  return value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(String(value));
}

test(covers('operations.idempotency.mismatch'), async () => {
  const key = randomUUID();
  const first = (await host.call('/v1/webhooks', { body: hook() })).body.webhookId;
  const second = (await host.call('/v1/webhooks', { body: hook() })).body.webhookId;
  await host.call('/v1/runs', keyed(key, { body: newRun }));
  const other = await host.call('/v1/runs', keyed(key, { body: { ...newRun, inputs: {} } }));
  expect(other).toMatchObject({ status: 409, body: { error: 'idempotency_key_mismatch' } });

  const remove = (webhookId: string) =>
    host.call(`/v1/webhooks/${webhookId}?tenantId=acme-prod`, keyed(key, { method: 'DELETE' }));
  expect((await remove(first)).status).toBe(204);
  expect(await remove(second)).toMatchObject({ status: 409, body: { error: 'idempotency_key_mismatch' } });
});

test('a request that is repeated with another spelling of its path is the same request', async () => {
  const { runId } = (await host.call('/v1/runs', { body: newRun })).body;
  const spellings = {
    '1': [runId, runId.replace('r', '%72')],
    '2': [`acme~2F${runId}`, `acme%2F${runId}`, `acme%2f${runId.replace('r', '%72')}`, runId],
  };
  for (const [major, [first, ...others]] of Object.entries(spellings)) {
    const key = randomUUID();
    const cancel = (id: string | undefined) =>
      host.call(`${major === '1' ? '/v1' : ''}/runs/${id}/cancel`, keyed(key, { major, body: {} }));
    const { status, body } = await cancel(first);
    for (const other of others) {
      const again = await cancel(other);
      expect([other, again.status, isReplay(again), again.body]).toEqual([other, status, true, body]);
    }
    expect((await cancel(runId.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')))).body.error).toBe(
      'idempotency_key_mismatch',
    );
  }
});

test(covers('operations.idempotency.tenants-apart'), async () => {
  const key = randomUUID();
  const own = await host.call('/v1/runs', keyed(key, { body: newRun }));
  const foreign = await host.call('/v1/runs', keyed(key, { key: OTHER_TENANT, body: newRun }));
  expect([foreign.status, isReplay(foreign)]).toEqual([201, false]);
  expect(foreign.body.runId).not.toBe(own.body.runId);
  // A caller who cannot read a run of another workspace does not get it by its key.
  const elsewhere = await host.call('/v1/runs', keyed(key, { key: DEV, body: newRun }));
  expect(elsewhere).toMatchObject({ status: 409, body: { error: 'idempotency_key_mismatch' } });
});

describe(covers('operations.idempotency.not-kept'), () => {
  test('a rejected body is validated again', async () => {
    const key = randomUUID();
    const refused = await host.call('/v1/runs', keyed(key, { body: { ...newRun, unknown: true } }));
    expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    const mended = await host.call('/v1/runs', keyed(key, { body: newRun }));
    expect([mended.status, isReplay(mended)]).toEqual([201, false]);
  });

  test('a refusal of scope or workspace is not stored', async () => {
    const key = randomUUID();
    const refused = await host.call('/v1/runs', keyed(key, { body: { ...newRun, tenantId: 'acme-dev' } }));
    expect(refused.status).toBe(403);
    expect((await host.call('/v1/runs', keyed(key, { body: newRun }))).status).toBe(201);
  });
});

describe(covers('operations.idempotency.key-v1', 'operations.idempotency.key-v2'), () => {
  test.each([
    ['1', 'short', 201],
    ['1', 'a'.repeat(255), 201],
    ['1', 'a'.repeat(256), 400],
    ['1', 'with space', 400],
    ['1', 'with/slash', 400],
    ['1', '"quoted"', 400],
    ['2', '0123456789abcdefghijkl', 201],
    ['2', randomUUID(), 201],
    ['2', '0123456789abcdefghijk', 400],
    ['2', 'abcdefgh'.repeat(16), 201],
    ['2', `${'abcdefgh'.repeat(16)}i`, 400],
    ['2', '0123456789abcdefghij/l', 400],
    ['2', 'a'.repeat(64), 400],
    ['2', 'abcde'.repeat(8), 400],
  ])('major %s, %s: %i', async (major, key, status) => {
    const answer = await host.call(major === '1' ? '/v1/runs' : '/runs', keyed(key, { major, body: newRun }));
    expect(answer.status).toBe(status);
    const code = major === '1' ? 'validation_error' : 'idempotency_key_invalid';
    if (status === 400)
      expect(answer.body).toMatchObject({ error: code, message: expect.stringContaining('Idempotency-Key') });
  });

  test('rejects two keys', async () => {
    const headers = new Headers({ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' });
    for (const key of [randomUUID(), randomUUID()]) headers.append('idempotency-key', key);
    const body = JSON.stringify(newRun);
    expect((await fetch(`${host.url()}/v1/runs`, { method: 'POST', headers, body })).status).toBe(400);
  });
});

test(`${covers('operations.idempotency.concurrent', 'operations.idempotency.once')} fifty requests at once create one run`, async () => {
  const key = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => host.call('/v1/runs', keyed(key, { body: newRun }))),
  );
  const created = answers.filter(({ status }) => status === 201);
  expect(created.filter((answer) => !isReplay(answer))).toHaveLength(1);
  expect(new Set(created.map(({ body }) => body.runId)).size).toBe(1);
  for (const { status, body, headers } of answers.filter((answer) => answer.status !== 201)) {
    expect([status, body.error, headers.get('retry-after')]).toEqual([409, 'idempotency_in_flight', '1']);
  }
  expect(newRuns()).toBe(1);
});

test(`${covers('operations.idempotency.survives-restart', 'operations.idempotency.take-over')} a host that is killed while it creates runs repeats no run`, async () => {
  const registered = randomUUID();
  const keys = Array.from({ length: 100 }, () => randomUUID());
  const { first, underWay } = await host.killAfter(async () => {
    const first = await host.call('/v1/webhooks', keyed(registered, { body: hook() }));
    const underWay = keys.map((key) => host.call('/v1/runs', keyed(key, { body: newRun })).catch(() => undefined));
    await Promise.race(underWay);
    return { first, underWay };
  });
  const acknowledged = await Promise.all(underWay);

  const again = await Promise.all(keys.map((key) => host.call('/v1/runs', keyed(key, { body: newRun }))));
  expect(new Set(again.map(({ status }) => status))).toEqual(new Set([201]));
  for (const [index, before] of acknowledged.entries()) {
    if (before?.status === 201) expect(again[index]?.body).toEqual(before.body);
  }
  expect(newRuns()).toBe(keys.length);
  const replay = await host.call('/v1/webhooks', keyed(registered, { body: hook() }));
  expect([isReplay(replay), replay.body]).toEqual([true, first.body]);
});

describe(covers('operations.idempotency.survives-restart', 'operations.idempotency.take-over'), () => {
  const long = { workflowId: 'delay', inputs: { ms: 60_000 } };
  const major = '2';
  const at = (runId: string, suffix = '') => `/runs/${encodeURIComponent(runId)}${suffix}`;
  const statusOf = async (runId: string) => (await host.call(at(runId), { major })).body.status;
  const typesOf = async (runId: string): Promise<string[]> => {
    const { body } = await host.call(at(runId, '/events/poll'), { major });
    return body.events.map(({ type }: { type: string }) => type);
  };

  async function running(): Promise<string> {
    const { runId } = (await host.call('/runs', { major, body: long })).body;
    await eventually(async () => (await statusOf(runId)) === 'running');
    return runId;
  }

  async function paused(): Promise<string> {
    const runId = await running();
    await host.call(at(runId, ':pause'), { major, body: { drainPolicy: 'immediate' } });
    await eventually(async () => (await statusOf(runId)) === 'paused');
    return runId;
  }

  test.each([
    { name: 'cancels', made: running, suffix: '/cancel', body: {}, status: 200, once: 'run.cancelled' },
    {
      name: 'pauses',
      made: running,
      suffix: ':pause',
      body: { drainPolicy: 'immediate' },
      status: 202,
      once: 'run.paused',
    },
    { name: 'resumes', made: paused, suffix: ':resume', body: {}, status: 202, once: 'run.resumed' },
  ])('a host that is killed while it $name runs does so once', async ({ made, suffix, body, status, once }) => {
    const runs = await Promise.all(Array.from({ length: 30 }, made));
    const keys = runs.map(() => randomUUID());
    const ask = (runId: string, index: number) =>
      host.call(at(runId, suffix), { ...keyed(keys[index] ?? '', { body }), major });
    const acknowledged = await killedOver(() => runs.map((runId, index) => ask(runId, index).catch(() => undefined)));

    const again = await Promise.all(runs.map(ask));
    expect(new Set(again.map((answer) => answer.status))).toEqual(new Set([status]));
    for (const [index, before] of acknowledged.entries()) {
      if (before !== undefined)
        expect([isReplay(again[index] ?? before), again[index]?.body]).toEqual([true, before.body]);
    }
    for (const runId of runs) {
      await eventually(async () => (await typesOf(runId)).includes(once));
      expect((await typesOf(runId)).filter((type) => type === once)).toHaveLength(1);
    }
  });

  test('a host that is killed while it cancels several runs cancels each once', async () => {
    const batches = await Promise.all(Array.from({ length: 4 }, () => Promise.all(Array.from({ length: 10 }, paused))));
    const keys = batches.map(() => randomUUID());
    const ask = (runIds: string[], index: number) =>
      host.call('/runs:bulk-cancel', { ...keyed(keys[index] ?? '', { body: { runIds } }), major });
    await killedOver(() => batches.map((runIds, index) => ask(runIds, index).catch(() => undefined)), 5);

    const again = await Promise.all(batches.map(ask));
    for (const { status, body } of again) {
      expect(status).toBe(200);
      expect(body.results.map(({ ok }: { ok: boolean }) => ok)).toEqual(Array(10).fill(true));
    }
    for (const runId of batches.flat()) {
      expect((await typesOf(runId)).filter((type) => type === 'run.cancelled')).toHaveLength(1);
    }
  });

  /** Kills the host at the first of these answers, or after `afterMs`, and resolves with the answers that arrived. */
  async function killedOver<T>(send: () => readonly Promise<T>[], afterMs?: number): Promise<readonly T[]> {
    const { underWay } = await host.killAfter(async () => {
      const underWay = send();
      const patience = new Promise<void>((resolve) => {
        if (afterMs !== undefined) setTimeout(resolve, afterMs);
      });
      await Promise.race([...underWay, patience]);
      return { underWay };
    });
    return await Promise.all(underWay);
  }
});
