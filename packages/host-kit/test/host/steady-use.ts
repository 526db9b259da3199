import { generateKeyPairSync } from 'node:crypto';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { type CheckpointRecord, ed25519Signer } from '@svc/auth/audit';
import {
  type CheckpointSink,
  type Clock,
  createHost,
  type HostOptions,
  type LogRecord,
  type Store,
  type WorkflowEngine,
} from '@svc/host-kit';

const DAY_MS = 86_400_000;
const KEY = 'operator-key-of-the-steady-use-0123456789';

export interface SteadyUse {
  readonly store: Store;
  /** How often the use is repeated. */
  readonly periods: number;
  /** The time that passes after each use, in days. */
  readonly periodDays: number;
  readonly runsPerPeriod: number;
  /** Default: records are kept for ever. */
  readonly retention?: HostOptions['retention'];
  /** Returns whether the host has removed all records whose time has passed at the time `now`. */
  readonly isRemoved: (now: number) => Promise<boolean>;
  /** Called at the end of each period, counted from 1. */
  readonly sample: (period: number) => Promise<void>;
}

/**
 * Uses a host steadily while a clock of its own runs fast: runs with events, an artifact, an effect, an idempotency key
 * and a delivery of which every fifth becomes a dead letter. Returns the records of its log above the level `info`.
 */
export async function steadyUse(use: SteadyUse): Promise<readonly LogRecord[]> {
  const clock = new FastClock();
  const faults: LogRecord[] = [];
  let attempts = 0;
  const host = createHost({
    store: use.store,
    ports: {
      clock,
      log(record) {
        if (record.level !== 'info' && record.event !== 'delivery.attempted') faults.push(record);
      },
      async transport() {
        attempts += 1;
        return { kind: 'answered', status: attempts % 5 === 0 ? 500 : 204, retryAfter: undefined, durationMs: 1 };
      },
    },
    engine,
    authenticate: [apiKeyLane({ keys: memoryKeyStore([key]), now: clock.now })],
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    webhooks: {
      durable: true,
      failAfterHours: 0,
      deadLetterRetentionDays: 30,
      retryPolicy: { maxAttempts: 1, backoff: 'none', delayMs: 0, maxDelayMs: 0 },
    },
    audit: { signer: await newSigner(), checkpointIntervalEntries: 20, checkpointSink: sinkInMemory() },
    ...(use.retention !== undefined && { retention: use.retention }),
  });
  await host.start();
  const call = (path: string, body: object, headers: object = {}) => post(host, path, body, headers);
  await call('/v1/webhooks', { url: 'https://hooks.example/', events: ['run.completed'], tenantId: 'acme-prod' });
  let runs = 0;
  for (let period = 1; period <= use.periods; period++) {
    for (let turn = 0; turn < use.runsPerPeriod; turn++) {
      runs += 1;
      const body = { workflowId: 'use', inputs: { number: runs, text: 'x'.repeat(300) } };
      await call('/v1/runs', body, { 'idempotency-key': `use-${runs}` });
    }
    await until(async () => attempts >= runs || faults.length > 0);
    if (faults.length > 0) return faults;
    // The settlements of the last attempts, and the batch of audit entries.
    await until(
      async () => (await use.store.backlog.read({ webhookIds: undefined, now: clock.now(), limit: 9 })).due === 0,
    );
    clock.advance(use.periodDays * DAY_MS);
    await until(() => use.isRemoved(clock.now()));
    await use.sample(period);
  }
  await host.stop();
  return faults;
}

const key = {
  id: 'key_1',
  hash: hashApiKey(KEY),
  tenant: 'acme',
  workspaces: ['acme-prod'],
  principal: 'p_1',
  scopes: ['runs:create', 'webhooks:manage'],
  mode: 'live',
} as const;

const engine: WorkflowEngine = {
  async execute(run, { append, artifact, effect }) {
    const nodeId = 'use';
    await append({ type: 'node.started', nodeId, payload: { nodeId, typeId: 'acme.use' } });
    await artifact({ nodeId, artifactType: 'text', content: 'y'.repeat(500) });
    const request = { nodeId, provider: 'acme:pay', identity: { ordinal: 0 } };
    await effect(request, async () => ({ paid: true }));
    await append({ type: 'node.completed', nodeId, payload: { nodeId, outputs: {} } });
    return { status: 'completed', outputs: { runId: run.runId } };
  },
};

async function post(host: ReturnType<typeof createHost>, path: string, body: object, headers: object): Promise<void> {
  const response = await host.fetch(
    new Request(`http://host.test${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
  );
  const text = await response.text();
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${text}`);
}

async function newSigner() {
  const { privateKey } = generateKeyPairSync('ed25519');
  return await ed25519Signer(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

function sinkInMemory(): CheckpointSink {
  const records: CheckpointRecord[] = [];
  return {
    append: async (record) => void records.push(record),
    last: async () => records.at(-1),
    lastUpTo: async (atSequence) => records.findLast((record) => record.atSequence <= atSequence),
  };
}

/** A clock that is set forward. Timers that are due by then fire at once; short ones fire by themselves, too. */
class FastClock implements Clock {
  #ahead = 0;
  readonly #timers = new Set<{ readonly due: number; readonly fire: () => void }>();

  readonly now = (): number => Date.now() + this.#ahead;
  readonly monotonic = (): number => performance.now() + this.#ahead;

  readonly after = (ms: number, run: () => void): (() => void) => {
    const fire = (): void => {
      cancel();
      run();
    };
    const timer = { due: this.monotonic() + ms, fire };
    const real = setTimeout(fire, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS)).unref();
    const cancel = (): void => {
      clearTimeout(real);
      this.#timers.delete(timer);
    };
    this.#timers.add(timer);
    return cancel;
  };

  advance(ms: number): void {
    this.#ahead += ms;
    const due = [...this.#timers].filter((timer) => timer.due <= this.monotonic());
    for (const { fire } of due.sort((a, b) => a.due - b.due)) fire();
  }
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 60_000; !(await condition()); ) {
    if (performance.now() > end) throw new Error(`The condition did not hold within 60 s: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
