import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type Host } from '../../host.ts';
import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import type { WorkflowEngine } from '../../ports/engine.ts';
import type { RunEvent } from '../../ports/events.ts';
import { isTerminal, isWaiting, type Run, type RunStatus } from '../../ports/runs.ts';
import type { Store } from '../../ports/store.ts';
import { sqliteStore } from '../../stores/sqlite/index.ts';
import { type Fault, FaultyStore } from './faulty-store.ts';
import type { ProcessClock } from './hand-clock.ts';
import type { Surroundings } from './surroundings.ts';
import { WatchedEngine } from './watched-engine.ts';

export interface HostProcessParts {
  readonly engine: WorkflowEngine;
  readonly closeEngine: () => Promise<void>;
  readonly clock: ProcessClock;
  /** Whether runs are cut at the places that their metadata names. */
  readonly cuts: boolean;
  readonly path: string;
  readonly world: Surroundings;
}

/** A host on a database file, from its start to its stop or kill. */
export class HostProcess {
  readonly watched: WatchedEngine;
  readonly #parts: HostProcessParts;
  readonly #file: Store;
  readonly #faulty: FaultyStore;
  readonly #host: Host;
  #isOver = false;

  constructor(parts: HostProcessParts) {
    this.#parts = parts;
    const { engine, clock, cuts, path, world } = parts;
    this.watched = new WatchedEngine(engine, { cuts, isAccepted: (workflowId) => workflowId === GONE });
    this.#file = sqliteStore(path);
    this.#faulty = new FaultyStore(this.#file);
    const answer = async (url: string | URL, init?: { readonly headers?: Readonly<Record<string, string>> }) => {
      world.calls.push({ url: String(url), key: new Headers(init?.headers).get('idempotency-key') });
      return new Response('{"isDone":true}', { headers: { 'content-type': 'application/json' } });
    };
    try {
      this.#host = createHost({
        store: this.#faulty.store,
        engine: this.watched.engine,
        ports: { clock, log: () => {}, fetch: Object.assign(answer, { close: () => {} }) },
        authenticate: [apiKeyLane({ keys: KEYS, now: clock.now })],
        secretKey: new Uint8Array(32),
        authorization: { hasWorkspace: () => true },
      });
    } catch (error) {
      // A host rejects an engine whose members contradict each other. The file must not stay open.
      void this.#file.close();
      throw error;
    }
  }

  start(): Promise<void> {
    return this.#host.start();
  }

  /** Creates a run, and returns its id. */
  async create(workflowId: string, inputs: JsonObject, fields: JsonObject = {}): Promise<string> {
    const { status, body } = await this.call('/v1/runs', { workflowId, inputs, ...fields });
    const runId = isJsonObject(body) ? body.runId : undefined;
    if (status === 201 && typeof runId === 'string') return runId;
    throw new Error(`POST /v1/runs for ${workflowId}: the host answered ${status} ${JSON.stringify(body)}.`);
  }

  /** Sends a request. */
  async call(path: string, sent?: JsonObject): Promise<{ readonly status: number; readonly body: Json }> {
    const headers = { authorization: `Bearer ${KEY}`, ...(sent && { 'content-type': 'application/json' }) };
    const request = new Request(`http://host.test${path}`, {
      headers,
      ...(sent && { method: 'POST', body: JSON.stringify(sent) }),
    });
    const response = await this.#host.fetch(request);
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  }

  /**
   * Asks for a pause, which the host waits for by its clock. Returns the status of the answer.
   *
   * @param requested called when the request is stored
   */
  async pause(runId: string, requested = (): void => {}): Promise<number> {
    let status: number | undefined;
    const asked = this.call(`/v1/runs/${runId}:pause`, {}).then((answer) => {
      status = answer.status;
    });
    await this.#parts.world.until('the request of a pause', async () => {
      const run = await this.read(runId);
      return status ?? run.pauseRequest ?? (run.status === 'running' ? undefined : run.status);
    });
    requested();
    await this.#parts.world.until('the answer to a pause', async () => {
      const run = await this.read(runId);
      // Not before: the time until the pause is recorded would count as time of the run.
      if (run.status === 'paused' || isTerminal(run.status)) await this.#parts.world.pass(LOOK_EVERY_MS);
      return status;
    });
    await asked;
    return status ?? 0;
  }

  /** Waits until a run has one of the statuses. */
  async comesTo(runId: string, ...statuses: readonly RunStatus[]): Promise<Run> {
    return this.#parts.world.until(`run ${statuses.join(' or ')}`, async () => {
      const run = await this.read(runId);
      return statuses.includes(run.status) ? run : undefined;
    });
  }

  /** Waits until a run has ended. */
  ends(runId: string): Promise<Run> {
    return this.comesTo(runId, 'completed', 'failed', 'cancelled');
  }

  /** Waits until the engine rests for a time to come in a run, or the run has ended. Returns the run. */
  async rests(runId: string): Promise<Run> {
    const { clock, world } = this.#parts;
    return world.until('a call of execution.until', async () => {
      const turn = this.watched.turns.findLast(({ run }) => run.runId === runId);
      const isAtRest = [...(turn?.restsUntil ?? [])].some((time) => time > clock.now());
      const run = await this.read(runId);
      return isAtRest || isTerminal(run.status) ? run : undefined;
    });
  }

  /** Waits until each of the runs has come to its cut, has ended, or asks. */
  async comeToCuts(runIds: readonly string[]): Promise<void> {
    const isThere = async (runId: string): Promise<boolean> => {
      const { status } = await this.read(runId);
      return isTerminal(status) || isWaiting(status) || this.isCut(runId);
    };
    for (const runId of runIds) await this.#parts.world.until('a cut', async () => (await isThere(runId)) || undefined);
  }

  isCut(runId: string): boolean {
    return this.watched.turns.some(({ run, isCut }) => run.runId === runId && isCut);
  }

  async read(runId: string): Promise<Run> {
    const found = await this.#file.runs.read(TENANCY, runId);
    if (found.kind !== 'found') throw new Error(`The run ${runId} is not stored.`);
    return found.value;
  }

  async log(runId: string): Promise<readonly RunEvent[]> {
    return this.#file.events.list(await this.read(runId), { after: -1, limit: 10_000 });
  }

  /** Returns the stored children of a run. */
  async childrenOf(runId: string): Promise<readonly Run[]> {
    const runs = await this.#file.runs.list(TENANCY, { before: undefined, limit: 1000 });
    return runs.filter(({ parent }) => parent?.runId === runId);
  }

  /** Plans a fault of the store. */
  plan(fault: Fault): void {
    this.#faulty.plan(fault);
  }

  /** Waits until the planned fault has happened, and the engine has left its run. */
  async fails(): Promise<void> {
    await this.#parts.world.until('the planned fault', () => this.#faulty.hasFailed || undefined);
    await this.#parts.world.pass(0);
    await this.left();
  }

  /** From now on the run is in a later epoch than this process drives. */
  fence(runId: string): void {
    this.#faulty.fence(runId);
  }

  /** Waits until every call of `execute` that was told to leave, or whose run has ended, has returned. */
  async left(): Promise<void> {
    await this.#parts.world.until('the engine returns after it was told to leave', () =>
      this.watched.turns.every(({ isSettled, signal }) => isSettled || !signal.aborted) ? true : undefined,
    );
  }

  /** Whether every call of `execute` for a run has returned. */
  hasReturned(runId: string): boolean {
    return this.watched.turns.every(({ run, isSettled }) => run.runId !== runId || isSettled);
  }

  /** Stops the host as SIGTERM does. */
  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      await this.#host.stop(0);
      this.#parts.clock.end();
      await this.left();
    } finally {
      await this.#parts.closeEngine();
    }
  }

  /** Ends the host as SIGKILL does. */
  async kill(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#faulty.kill();
    this.#parts.clock.end();
    await this.#file.close();
    await this.#parts.closeEngine();
  }
}

/** A workflow that no engine has, and that the host of the contract accepts. */
export const GONE = 'workflow-that-is-gone';

const KEY = 'key-of-the-engine-contract-0123456789abcdef';
const SCOPES = ['runs:create', 'runs:read', 'runs:cancel', 'approvals:respond', 'artifacts:read', 'manifest:read'];
const KEYS = memoryKeyStore([
  {
    ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'] },
    ...{ principal: 'p_1', scopes: SCOPES, mode: 'live' },
  },
]);
/** How often the host looks whether a run is paused. */
const LOOK_EVERY_MS = 25;
const TENANCY = { tenant: 'acme', workspaces: ['acme-prod'], mode: 'live' } as const;
