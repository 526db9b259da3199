import { env } from 'node:process';
import { inspect } from 'node:util';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type Host, type Transport, type WorkflowEngine } from '@svc/host-kit';
import { chance } from '@svc/tools/chance';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { openDatabase } from '../../src/stores/postgres/database.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';

/** `SVC_SEED` chooses the operations, `SVC_STRESS_ROUNDS` their number for each of 8 callers. */
const luck = chance(Number(env.SVC_SEED ?? 1));
const ROUNDS = Number(env.SVC_STRESS_ROUNDS ?? 30);
const CALLERS = 8;

const KEY = 'operator-key-of-two-hosts-0123456789abcd';
const EVENTS = ['run.started', 'log.appended', 'artifact.created', 'run.completed'];
const POLICY = { maxAttempts: 100, backoff: 'fixed', delayMs: 50, maxDelayMs: 100 } as const;

const postgres = await startPostgres();
afterAll(() => postgres.stop());

/** Appends many events at a time. */
const engine: WorkflowEngine = {
  version: 1,
  forks: ['replay', 'branch'],
  async execute(_run, { append, artifact, replayed }) {
    if (replayed !== undefined) await replayed('n');
    else {
      const node = { nodeId: 'n', payload: { nodeId: 'n', typeId: 'acme.n' } };
      await append({ ...node, type: 'node.started' });
      const logged = { type: 'log.appended', nodeId: 'n', payload: { level: 'info', message: 'm' } };
      await Promise.all(Array.from({ length: 8 }, () => append(logged)));
      await artifact({ nodeId: 'n', artifactType: 'text', content: 'x' });
      await append({ ...node, type: 'node.completed', payload: { nodeId: 'n', outputs: {} } });
    }
    return { status: 'completed', outputs: {} };
  },
};

/** Wraps a store that rolls back 30 % of its transactions, as after a conflict, and repeats them. */
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

/**
 * Receivers that fail 10 % of their attempts. Counts attempts and deliveries, and lists attempts after an
 * unregistration.
 */
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
  /** Its place in the order of all operations. */
  readonly at: number;
}

describe(covers('webhooks.durable.at-least-once', 'webhooks.best-effort.single-attempt'), () => {
  test(
    'loses, reorders and repeats nothing, and sends nothing to removed subscriptions, with two hosts of two connections each and transactions that are repeated',
    () => lived({ isCut: false }),
    300_000,
  );

  test(
    'loses and reorders nothing, sends nothing to removed subscriptions, and fails no run while connections break',
    () => lived({ isCut: true }),
    300_000,
  );
});

type Rows = (text: string) => Promise<readonly Record<string, unknown>[]>;

async function lived({ isCut }: { readonly isCut: boolean }): Promise<void> {
  const schema = isCut ? 'cut' : 'whole';
  const database = openDatabase({ url: postgres.url, schema, connections: 1, onError: () => {} });
  onTestFinished(() => database.close());
  const rows: Rows = async (text) => (await database.query({ name: text.slice(0, 60), text }, [])).rows;
  const errors: unknown[] = [];
  const gone = new Set<string>();
  const received = receivers(gone);
  const hosts = [await boot(schema, received.transport, errors), await boot(schema, received.transport, errors)];
  for (const host of hosts) await host.start();

  const callers = new Callers(hosts, gone, isCut);
  // The first two subscriptions stay.
  for (const isDurable of [true, false, true, false, true, false]) await callers.register(isDurable);
  await Promise.all(Array.from({ length: CALLERS }, () => rounds(callers, isCut ? () => rows(CUT) : undefined)));
  await holds(async () => (await callers.resumeAll(rows)) === 0);
  await holds(async () => (await unfinished(rows)) === 0);
  for (const host of hosts) await host.stop();

  expect(received.late).toEqual([]);
  if (isCut) expect(errors).not.toEqual([]);
  else expect(errors.filter((error) => !isTimeLimit(error) && !isSlowReading(error))).toEqual([]);
  await expectWholeLogs(rows);
  // After a break or a time limit, the host cannot know whether its answer was recorded.
  await expectDeliveries(rows, callers, received, { mayRepeat: isCut || errors.some(isTimeLimit) });
}

/** The time limits of PostgreSQL and its client, which strike on a machine that is busy enough. */
const TIME_LIMIT =
  /(?:idle-in-transaction|statement) timeout|Query read timeout|timeout exceeded when trying to connect/;

function isTimeLimit(error: unknown): boolean {
  return TIME_LIMIT.test(inspect(error));
}

/** An attempt that was not begun, because the machine was too busy to read its subscription in time. It is made later. */
function isSlowReading(error: unknown): boolean {
  return /Reading a subscription took more than 500 ms/.test(inspect(error));
}

async function boot(schema: string, transport: Transport, errors: unknown[]): Promise<Host> {
  const onError = (cause: unknown) => errors.push(cause);
  const store = await postgresStore({ url: postgres.url, schema, connections: 2, onError });
  const scopes = ['runs:create', 'runs:read', 'webhooks:manage'];
  const key = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['w1'], principal: 'p_1' };
  return createHost({
    store: tryingAgain(store),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...key, scopes, mode: 'live' }]) })],
    engine,
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    ports: { transport, log: (entry) => void (entry.level === 'error' && errors.push(entry)) },
    webhooks: { durable: false, retryPolicy: POLICY },
  });
}

/** One caller: random operations, with a break of connections every tenth round. */
async function rounds(callers: Callers, cut: (() => Promise<unknown>) | undefined): Promise<void> {
  for (let round = 1; round <= ROUNDS; round++) {
    await Promise.all([callers.doSomething(), passed(100)]);
    if (round % 10 === 0) await cut?.();
  }
}

/** Resolves as soon as a condition holds. Only the time limit of the test ends it otherwise. */
async function holds(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await passed(200);
}

/** Sends requests to either host, and knows the state that they led to. */
class Callers {
  readonly subscriptions: Registered[] = [];
  readonly runs: { readonly runId: string; readonly asked: number }[] = [];
  readonly bestEffort = new Set<string>();
  readonly #hosts: readonly Host[];
  readonly #gone: Set<string>;
  readonly #paused = new Set<string>();
  /** True: a 5xx answer is the effect of a broken connection. */
  readonly #isCut: boolean;
  /** Orders registrations and requests for runs. */
  #order = 0;

  constructor(hosts: readonly Host[], gone: Set<string>, isCut: boolean) {
    this.#hosts = hosts;
    this.#gone = gone;
    this.#isCut = isCut;
  }

  async doSomething(): Promise<void> {
    const create = () => this.#create();
    const others = [() => this.#fork(), () => this.register(), () => this.#unregister(), () => this.#move()];
    await luck
      .pick([create, create, create, ...others])()
      .catch((error: unknown) => this.#passUnlessCut(error));
  }

  async register(isDurable = luck.happens(0.6)): Promise<void> {
    const body = { url: 'https://hooks.example/', events: EVENTS, ...(!isDurable && { tenantId: 'w1' }) };
    const { webhookId } = await this.#call(isDurable ? '/webhooks' : '/v1/webhooks', body);
    this.subscriptions.push({ webhookId: bare(webhookId), isDurable, at: ++this.#order });
    if (!isDurable) this.bestEffort.add(bare(webhookId));
  }

  /** Resumes all paused subscriptions, and returns their number. */
  async resumeAll(rows: Rows): Promise<number> {
    const found = await rows(`SELECT webhook_id FROM subscriptions WHERE status = 'paused'`);
    for (const { webhook_id } of found) {
      await this.#call(`/host/example/webhooks/${webhook_id}/resume`, {}).catch((error: unknown) =>
        this.#passUnlessCut(error),
      );
    }
    return found.length;
  }

  async #unregister(): Promise<void> {
    if (this.subscriptions.length < 5) return;
    const chosen = 2 + luck.below(this.subscriptions.length - 2);
    const [{ webhookId, isDurable } = NO_SUBSCRIPTION] = this.subscriptions.splice(chosen, 1);
    this.#paused.delete(webhookId);
    const path = isDurable ? `/webhooks/acme~2F${webhookId}` : `/v1/webhooks/${webhookId}?tenantId=w1`;
    await this.#call(path, undefined, 'DELETE');
    this.#gone.add(webhookId);
  }

  async #move(): Promise<void> {
    const { webhookId } = this.subscriptions[luck.below(this.subscriptions.length)] ?? NO_SUBSCRIPTION;
    const signal = this.#paused.delete(webhookId) ? 'resume' : 'pause';
    if (signal === 'pause') this.#paused.add(webhookId);
    await this.#call(`/host/example/webhooks/${webhookId}/${signal}`, {}).catch((error: unknown) => {
      // It may have been unregistered meanwhile, or have failed.
      if (!/: (404|409) /.test(String(error))) throw error;
      this.#paused.delete(webhookId);
    });
  }

  async #create(): Promise<void> {
    const asked = ++this.#order;
    const { runId } = await this.#call('/v1/runs', { workflowId: 'any', tenantId: 'w1' });
    this.runs.push({ runId, asked });
  }

  async #fork(): Promise<void> {
    const one = this.runs[luck.below(Math.max(this.runs.length, 1))];
    const body = luck.pick([{ mode: 'replay' }, { mode: 'branch', fromSeq: 1 }]);
    if (one === undefined) return;
    await this.#call(`/v1/runs/${one.runId}:fork`, body).catch((error: unknown) => {
      // Its log may be too short yet.
      if (!String(error).includes('fork_point_invalid')) throw error;
    });
  }

  async #call(path: string, body?: object, method = 'POST') {
    const request = new Request(`http://host.test${path}`, {
      method,
      headers: {
        authorization: `Bearer ${KEY}`,
        'svc-version': /^\/(v1|host)\//.test(path) ? '1' : '2',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const response = await this.#hosts[luck.below(2)]?.fetch(request);
    if (response === undefined) throw new Error('There are two hosts.');
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  #passUnlessCut(error: unknown): void {
    if (!this.#isCut || !/: 5[0-9]{2} /.test(String(error))) throw error;
  }
}

async function unfinished(rows: Rows): Promise<number> {
  const [counted] = await rows(`SELECT
    (SELECT count(*) FROM runs WHERE status NOT IN ('completed', 'failed')) +
    (SELECT count(*) FROM deliveries JOIN subscriptions USING (webhook_id)) AS count`);
  return Number(counted?.count);
}

async function expectWholeLogs(rows: Rows): Promise<void> {
  const failed = await rows(`SELECT run_id, error FROM runs WHERE status <> 'completed'`);
  const torn = await rows(`SELECT run_id FROM runs JOIN events USING (run_id) GROUP BY run_id, last_sequence
    HAVING min(sequence) <> 0 OR count(*) <> last_sequence + 1 OR max(sequence) <> last_sequence`);
  const [circles] = await rows('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
  expect([failed, torn, circles]).toEqual([[], [], { deadlocks: '0' }]);
}

async function expectDeliveries(
  rows: Rows,
  { runs, subscriptions, bestEffort }: Callers,
  { attempts, deliveries }: ReturnType<typeof receivers>,
  { mayRepeat }: { readonly mayRepeat: boolean },
): Promise<void> {
  const toldOf = await rows(`SELECT run_id, sequence FROM events WHERE type = ANY ('{${EVENTS}}')`);
  // A durable subscription that was there before a run was requested receives all its events.
  const due = runs.flatMap(({ runId, asked }) => {
    const listening = subscriptions.filter(({ isDurable, at }) => isDurable && at < asked);
    const told = toldOf.filter((event) => event.run_id === runId);
    return listening.flatMap(({ webhookId }) => told.map(({ sequence }) => `${webhookId} ${runId} ${sequence}`));
  });
  expect(due.length).toBeGreaterThan(0);
  expect(due.filter((name) => !deliveries.has(name))).toEqual([]);
  if (!mayRepeat) expect([...deliveries].filter(([, times]) => times > 1)).toEqual([]);
  const once = [...attempts].filter(([name]) => bestEffort.has(name.split(' ')[0] ?? ''));
  expect(once.length).toBeGreaterThan(0);
  expect(once.filter(([, times]) => times > 1)).toEqual([]);
}

const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND random() < 0.3`;

const NO_SUBSCRIPTION = { webhookId: 'whk_none', isDurable: false, at: 0 };
const bare = (id: string) => id.replace(/^acme\//, '');
const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
