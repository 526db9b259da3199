import { env } from 'node:process';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type Host, type Transport, type WorkflowEngine } from '@svc/host-kit';
import { chance } from '@svc/tools/chance';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { openDatabase } from '../../src/stores/postgres/database.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';

/** `SVC_SEED` chooses what happens, `SVC_STRESS_MS` for how long. */
const luck = chance(Number(env.SVC_SEED ?? 1));
const FOR_MS = Number(env.SVC_STRESS_MS ?? 3000);

const KEY = 'operator-key-of-two-hosts-0123456789abcd';
const EVENTS = ['run.started', 'log.appended', 'artifact.created', 'run.completed'];
const POLICY = { maxAttempts: 100, backoff: 'fixed', delayMs: 50, maxDelayMs: 100 } as const;

const postgres = await startPostgres();
afterAll(() => postgres.stop());

/** Asks for much at a time. */
const engine: WorkflowEngine = {
  version: 1,
  forks: ['replay', 'branch'],
  refuse: () => undefined,
  async execute(_run, { append, artifact, replayed }) {
    if (replayed !== undefined) await replayed('n');
    else {
      const node = { nodeId: 'n', payload: { nodeId: 'n' } };
      await append({ ...node, type: 'node.started' });
      const logged = { type: 'log.appended', nodeId: 'n', payload: { level: 'info', message: 'm' } };
      await Promise.all(Array.from({ length: 8 }, () => append(logged)));
      await artifact({ nodeId: 'n', artifactType: 'text', content: 'x' });
      await append({ ...node, type: 'node.completed', payload: { nodeId: 'n', outputs: {} } });
    }
    return { status: 'completed', outputs: {} };
  },
};

/** A store that undoes many a transaction, as if because of others, and tries it again. */
function tryingAgain(inner: Store): Store {
  return {
    ...inner,
    async transaction(work) {
      const undone = new Error('undone because of others');
      const first = async () => {
        await inner.transaction(async (transaction) => {
          await work(transaction);
          throw undone;
        });
      };
      if (luck.happens(0.3)) {
        await first().catch((error: unknown) => {
          if (error !== undone) throw error;
        });
      }
      return inner.transaction(work);
    },
  };
}

/** Receivers that fail now and then, and what they were sent. */
function receivers(gone: ReadonlySet<string>) {
  const attempts = new Map<string, number>();
  const deliveries = new Map<string, number>();
  const late: string[] = [];
  const transport: Transport = async ({ headers, body }) => {
    const { runId, event } = JSON.parse(new TextDecoder().decode(body));
    const webhookId = bare(headers['X-svc-Webhook-Id'] ?? '');
    const name = `${webhookId} ${bare(runId)} ${event.sequence}`;
    if (gone.has(webhookId)) late.push(name);
    count(attempts, name);
    await passed(luck.below(5));
    const status = luck.happens(0.1) ? luck.pick([500, 503]) : 204;
    if (status === 204) count(deliveries, name);
    return { kind: 'answered', status, retryAfter: undefined, durationMs: 1 };
  };
  return { attempts, deliveries, late, transport };
}

interface Registered {
  readonly webhookId: string;
  readonly isDurable: boolean;
  readonly at: number;
}

describe(covers('webhooks.durable.at-least-once', 'webhooks.best-effort.single-attempt'), () => {
  test(
    'two hosts with two connections each, everything at once, and transactions that are tried again: nothing is lost, out of order, sent twice, or sent to who is gone',
    () => lived({ isCut: false }),
    120_000,
  );

  test(
    'the same while connections break: nothing is lost, out of order, or sent to who is gone, and no run fails of it',
    () => lived({ isCut: true }),
    120_000,
  );
});

async function lived({ isCut }: { readonly isCut: boolean }): Promise<void> {
  const schema = isCut ? 'cut' : 'whole';
  const database = openDatabase({ url: postgres.url, schema, connections: 1, onError: () => {} });
  onTestFinished(() => database.close());
  const rows = async (text: string) => (await database.query({ name: text.slice(0, 60), text }, [])).rows;
  const bestEffort = new Set<string>();
  const gone = new Set<string>();
  const { attempts, deliveries, late, transport } = receivers(gone);
  const errors: unknown[] = [];
  const hosts = [await boot(), await boot()];
  for (const host of hosts) await host.start();

  const subscriptions: Registered[] = [];
  const paused = new Set<string>();
  const runs: { readonly runId: string; readonly asked: number }[] = [];
  const something = [create, fork, () => register(), unregister, move] as const;
  // The first two stay.
  for (const isDurable of [true, false, true, false, true, false]) await register(isDurable);
  const end = Date.now() + FOR_MS;
  const callers = Array.from({ length: 8 }, async () => {
    while (Date.now() < end)
      await Promise.all([
        luck
          .pick([create, create, ...something])()
          .catch(unlessCut),
        passed(100),
      ]);
  });
  const cutter = setInterval(() => void (isCut && rows(CUT)), 250);
  await Promise.all(callers);
  clearInterval(cutter);
  await expect.poll(resumed, { timeout: 10_000 }).toEqual([]);
  await expect.poll(unfinished, { timeout: 60_000, interval: 200 }).toBe(0);
  for (const host of hosts) await host.stop();

  expect(late).toEqual([]);
  expect(errors.length > 0).toBe(isCut);
  const failed = await rows(`SELECT run_id, error FROM runs WHERE status <> 'completed'`);
  const torn = await rows(`SELECT run_id FROM runs JOIN events USING (run_id) GROUP BY run_id, last_sequence
    HAVING min(sequence) <> 0 OR count(*) <> last_sequence + 1 OR max(sequence) <> last_sequence`);
  const [circles] = await rows('SELECT sum(deadlocks) AS deadlocks FROM pg_stat_database');
  expect([failed, torn, circles]).toEqual([[], [], { deadlocks: '0' }]);

  const toldOf = await rows(`SELECT run_id, sequence FROM events WHERE type = ANY ('{${EVENTS}}')`);
  // Whoever was there before a run was asked for hears all of it.
  const due = runs.flatMap(({ runId, asked }) => {
    const listening = subscriptions.filter(({ isDurable, at }) => isDurable && at < asked);
    const told = toldOf.filter((event) => event.run_id === runId);
    return listening.flatMap(({ webhookId }) => told.map(({ sequence }) => `${webhookId} ${runId} ${sequence}`));
  });
  expect(due.length).toBeGreaterThan(0);
  expect(due.filter((name) => !deliveries.has(name))).toEqual([]);
  // Whether an answer was written down is not known when the connection breaks.
  if (!isCut) expect([...deliveries].filter(([, times]) => times > 1)).toEqual([]);
  const once = [...attempts].filter(([name]) => bestEffort.has(name.split(' ')[0] ?? ''));
  expect(once.length).toBeGreaterThan(0);
  expect(once.filter(([, times]) => times > 1)).toEqual([]);

  async function boot(): Promise<Host> {
    const onError = (cause: unknown) => errors.push(cause);
    const store = await postgresStore({ url: postgres.url, schema, connections: 2, onError });
    const scopes = ['runs:create', 'runs:read', 'webhooks:manage'];
    const key = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['w1'], principal: 'p_1' };
    return createHost({
      store: tryingAgain(store),
      authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...key, scopes, mode: 'live' }]), now: Date.now })],
      engine,
      secretKey: new Uint8Array(32),
      hasWorkspace: () => true,
      transport,
      log: (entry) => void (entry.level === 'error' && errors.push(entry)),
      webhooks: { durable: false, retryPolicy: POLICY },
    });
  }
  async function call(path: string, body?: object, method = 'POST') {
    const request = new Request(`http://host.test${path}`, {
      method,
      headers: {
        authorization: `Bearer ${KEY}`,
        'svc-version': /^\/(v1|host)\//.test(path) ? '1' : '2',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const response = await (luck.happens(0.5) ? hosts[0] : hosts[1])?.fetch(request);
    if (response === undefined) throw new Error('There are two hosts.');
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
  async function register(isDurable = luck.happens(0.6)): Promise<void> {
    const body = { url: 'https://hooks.example/', events: EVENTS, ...(!isDurable && { tenantId: 'w1' }) };
    const webhookId = bare((await call(isDurable ? '/webhooks' : '/v1/webhooks', body)).webhookId);
    subscriptions.push({ webhookId, isDurable, at: Date.now() });
    if (!isDurable) bestEffort.add(webhookId);
  }
  async function unregister(): Promise<void> {
    if (subscriptions.length < 5) return;
    const chosen = 2 + luck.below(subscriptions.length - 2);
    const [{ webhookId, isDurable } = NOBODY] = subscriptions.splice(chosen, 1);
    paused.delete(webhookId);
    const path = isDurable ? `/webhooks/acme~2F${webhookId}` : `/v1/webhooks/${webhookId}?tenantId=w1`;
    await call(path, undefined, 'DELETE');
    gone.add(webhookId);
  }
  async function move(): Promise<void> {
    const { webhookId } = subscriptions[luck.below(subscriptions.length)] ?? NOBODY;
    const signal = paused.delete(webhookId) ? 'resume' : 'pause';
    if (signal === 'pause') paused.add(webhookId);
    await call(`/host/example/webhooks/${webhookId}/${signal}`, {}).catch((error: unknown) => {
      // It may have been unregistered meanwhile, or have failed.
      if (!/: (404|409) /.test(String(error))) throw error;
      paused.delete(webhookId);
    });
  }
  async function create(): Promise<void> {
    const asked = Date.now();
    const { runId } = await call('/v1/runs', { workflowId: 'any', tenantId: 'w1' });
    runs.push({ runId, asked });
  }
  async function fork(): Promise<void> {
    const one = runs[luck.below(Math.max(runs.length, 1))];
    const body = luck.pick([{ mode: 'replay' }, { mode: 'branch', fromSeq: 1 }]);
    if (one === undefined) return;
    await call(`/v1/runs/${one.runId}:fork`, body).catch((error: unknown) => {
      // Its log may be shorter yet.
      if (!String(error).includes('fork_point_invalid')) throw error;
    });
  }
  /** Goes on with all that are paused, and tells which were. */
  async function resumed() {
    const found = await rows(`SELECT webhook_id FROM subscriptions WHERE status = 'paused'`);
    for (const { webhook_id } of found) await call(`/host/example/webhooks/${webhook_id}/resume`, {}).catch(unlessCut);
    return found;
  }
  async function unfinished(): Promise<number> {
    const [counted] = await rows(`SELECT
      (SELECT count(*) FROM runs WHERE status NOT IN ('completed', 'failed')) +
      (SELECT count(*) FROM deliveries JOIN subscriptions USING (webhook_id)) AS count`);
    return Number(counted?.count);
  }
  function unlessCut(error: unknown): void {
    if (!isCut || !/: 5[0-9]{2} /.test(String(error))) throw error;
  }
}

const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND random() < 0.3`;

const NOBODY = { webhookId: 'whk_nobody', isDurable: false, at: 0 };
const bare = (id: string) => id.replace(/^acme\//, '');
const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
