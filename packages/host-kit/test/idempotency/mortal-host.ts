import { generateKeyPairSync } from 'node:crypto';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { ed25519Signer } from '@svc/auth/audit';
import { createHost, type Host, type Transport, type WorkflowEngine } from '@svc/host-kit';
import type { Store } from '../../src/ports/store.ts';
import type { Transaction } from '../../src/ports/transaction.ts';
import { type HostClock, type VirtualClock, virtualClock } from '../simulation/virtual-clock.ts';

/** Successive hosts on one store, in virtual time. */
export interface MortalHosts {
  /** The committed audit facts, by action: each effect records one in its own transaction. */
  readonly recorded: ReadonlyMap<string, number>;
  /** Clears `recorded`. */
  forget(): void;
  /** Crashes the host right after this number of further commits. */
  dieAfter(commits: number): void;
  readonly isDead: boolean;
  /** Sends a request. Returns undefined when the host crashes before its reply. */
  call(major: 1 | 2, asked: Asked, headers?: Readonly<Record<string, string>>): Promise<Reply | undefined>;
  /** Creates a run, and resolves with its percent-encoded id when it is `running`. */
  run(major: 1 | 2): Promise<string>;
  /** Creates a run and pauses it. */
  paused(major: 1 | 2): Promise<string>;
  /** Starts a successor of a crashed host, 30 s later. */
  replace(): Promise<void>;
  /** Stops the clock of the host. */
  end(): void;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

export interface Reply {
  readonly status: number;
  readonly isReplay: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many different bodies.
  readonly body: any;
}

export async function mortalHosts(store: Store): Promise<MortalHosts> {
  const world = virtualClock(Date.UTC(2026, 5, 1));
  const recorded = new Map<string, number>();
  let current = await begin();

  async function begin() {
    const clock = world.forHost();
    const mortal = mortalStore(store, recorded, () => clock.cut());
    const host = hostOn(mortal.store, clock, world);
    await host.start();
    return { host, mortal, clock };
  }

  const hosts: MortalHosts = {
    recorded,
    forget: () => recorded.clear(),
    dieAfter: (commits) => current.mortal.dieAfter(commits),
    get isDead() {
      return current.mortal.isDead();
    },
    async call(major, { method, path, body }, headers = {}) {
      const { host, mortal } = current;
      const request = new Request(`http://host.test${path}`, {
        method,
        headers: {
          authorization: `Bearer ${KEY}`,
          'svc-version': String(major),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      let reply: Reply | undefined;
      void host.fetch(request).then(async (response) => {
        const text = await response.text();
        const isReplay = response.headers.get('svc-idempotent-replay') === 'true';
        reply = { status: response.status, isReplay, body: text === '' ? undefined : JSON.parse(text) };
      });
      await until(world, () => reply !== undefined || mortal.isDead());
      return reply;
    },
    async run(major) {
      const runs = major === 1 ? '/v1/runs' : '/runs';
      const created = await hosts.call(major, { method: 'POST', path: runs, body: { workflowId: 'any' } });
      const runId = encodeURIComponent(created?.body.runId);
      for (;;) {
        const read = await hosts.call(major, { method: 'GET', path: `${runs}/${runId}` });
        if (read?.body.status === 'running') return runId;
      }
    },
    async paused(major) {
      const runId = await hosts.run(major);
      const path = `${major === 1 ? '/v1' : ''}/runs/${runId}:pause`;
      const asked = await hosts.call(major, { method: 'POST', path, body: { drainPolicy: 'immediate' } });
      if (asked?.status !== 202) throw new Error(`The run was not paused: ${JSON.stringify(asked)}`);
      return runId;
    },
    async replace() {
      let isOver = false;
      world.at(world.now() + LEASE_MS, () => {
        isOver = true;
      });
      await until(world, () => isOver);
      current = await begin();
    },
    end: () => current.clock.cut(),
  };
  return hosts;
}

const KEY = 'operator-key-of-this-test-0123456789';
/** The lease of a claim has expired by then. */
const LEASE_MS = 30_000;

const { privateKey } = generateKeyPairSync('ed25519');
const signer = await ed25519Signer(privateKey.export({ type: 'pkcs8', format: 'pem' }));

function hostOn(store: Store, clock: HostClock, world: VirtualClock): Host {
  const scopes = ['runs:create', 'runs:read', 'runs:cancel', 'webhooks:manage', 'workspace:read', 'workspace:write'];
  const record = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['prod'], principal: 'p_1' };
  const keys = memoryKeyStore([{ ...record, scopes, mode: 'live' }]);
  return createHost({
    store,
    authenticate: [apiKeyLane({ keys, now: world.now })],
    engine: slow(world),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    features: { workspaceFiles: {} },
    audit: { signer },
    ports: { clock, transport: accepting },
  });
}

/** Executes one node of 500 ms, and then waits until it is stopped. */
function slow(world: VirtualClock): WorkflowEngine {
  return {
    async execute(_run, { append, history, signal }) {
      const done: string[] = [];
      for await (const { type } of history()) done.push(type);
      const node = { nodeId: 'only' };
      const started = { ...node, typeId: 'test', attempt: 0 };
      if (!done.includes('node.started')) await append({ type: 'node.started', ...node, payload: started });
      await new Promise<void>((resolve) => world.at(world.now() + NODE_MS, resolve));
      if (!done.includes('node.completed')) await append({ type: 'node.completed', ...node, payload: node });
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
}

const NODE_MS = 500;

/** Accepts every delivery and confirms every challenge. */
const accepting: Transport = async ({ body }) => {
  const { challenge } = JSON.parse(new TextDecoder().decode(body));
  const answer = new TextEncoder().encode(JSON.stringify({ challenge }));
  return { kind: 'answered', status: 200, retryAfter: undefined, body: answer, durationMs: 1 };
};

/** Wraps a store for a host that crashes at a commit: the commit is durable, and no later call returns. */
function mortalStore(inner: Store, recorded: Map<string, number>, dying: () => void) {
  const facts = new Map<Transaction, string[]>();
  let left = Number.POSITIVE_INFINITY;

  async function commit<T>(work: () => Promise<T>): Promise<T> {
    if (left <= 0) return never();
    const result = await work();
    if (--left === 0) dying();
    return left <= 0 ? never() : result;
  }

  const store: Store = {
    ...inner,
    transaction: (work) =>
      commit(async () => {
        const noted: string[] = [];
        const result = await inner.transaction(async (transaction) => {
          noted.length = 0;
          facts.set(transaction, noted);
          return work(transaction);
        });
        for (const action of noted) recorded.set(action, (recorded.get(action) ?? 0) + 1);
        return result;
      }),
    audit: {
      ...inner.audit,
      async append(added, transaction) {
        facts.get(transaction)?.push(...added.map(({ action }) => action));
        await inner.audit.append(added, transaction);
      },
    },
    idempotency: {
      ...inner.idempotency,
      begin: (claim, options) => commit(() => inner.idempotency.begin(claim, options)),
      release: (claim) => commit(() => inner.idempotency.release(claim)),
    },
    // The store outlives the host.
    close: async () => {},
  };
  return {
    store,
    isDead: () => left <= 0,
    dieAfter(commits: number) {
      left = commits;
    },
  };
}

function never<T>(): Promise<T> {
  return new Promise(() => {});
}

/** Advances the world until a condition holds: pending work first, then time. */
async function until(world: VirtualClock, isSo: () => boolean): Promise<void> {
  const end = world.now() + 120_000;
  for (let idle = 0; !isSo(); idle++) {
    const isBusy = await world.step(world.now());
    if (isBusy || idle % PATIENCE !== 0) continue;
    if (!(await world.step(end))) throw new Error('The condition did not hold within 120 s of virtual time.');
  }
}

/** Rounds of the event loop for pending work before time advances. */
const PATIENCE = 20;
