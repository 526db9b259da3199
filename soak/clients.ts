import type { Chance } from '@svc/tools/chance';
import { type Answer, call } from './api.ts';
import { sleep } from './child.ts';
import type { KeyedAnswer } from './evidence.ts';
import { REALMS, type RealmName, TAGS, WORKFLOWS } from './plan.ts';
import { partsOf } from './records.ts';

/** A run whose creation returned 201. From then on the host owes every event of its log to the run's subscribers. */
export interface AcknowledgedRun {
  readonly runId: string;
  readonly realm: RealmName;
}

/**
 * Clients that create runs at any running host, and the responses that they get. Half of the creations have an
 * idempotency key; these are repeated until a response arrives, and sometimes once more.
 */
export class Clients {
  readonly #urls: () => readonly string[];
  readonly #chance: Chance;
  readonly #acknowledged: AcknowledgedRun[] = [];
  readonly #keyed: KeyedAnswer[] = [];
  readonly #refused: string[] = [];
  /** The creations with a key that still wait for a response. */
  readonly #asking = new Set<Promise<void>>();
  readonly #loops: readonly Promise<void>[];
  #isStopped = false;

  /** Starts the clients. */
  constructor(urls: () => readonly string[], chance: Chance) {
    this.#urls = urls;
    this.#chance = chance;
    this.#loops = Array.from({ length: CLIENTS }, () => this.#client());
  }

  get acknowledged(): readonly AcknowledgedRun[] {
    return this.#acknowledged;
  }

  /** The 201 responses to creations with an idempotency key. */
  get keyed(): readonly KeyedAnswer[] {
    return this.#keyed;
  }

  /** Responses that no disturbance explains. */
  get refused(): readonly string[] {
    return this.#refused;
  }

  /** Resolves when the last call has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
    await Promise.all(this.#asking);
  }

  async #client(): Promise<void> {
    while (!this.#isStopped) {
      const creation = creationBy(this.#chance);
      if (creation.idempotencyKey === undefined) await this.#ask(creation);
      // A key stays locked for a while when its host was killed; the client must not wait for that.
      else if (this.#asking.size < MOST_ASKING) this.#beginAsking(creation);
      await sleep(PAUSE_MS / 2 + this.#chance.below(PAUSE_MS));
    }
  }

  #beginAsking(creation: Creation): void {
    const done: Promise<void> = this.#askUntilAnswered(creation).finally(() => this.#asking.delete(done));
    this.#asking.add(done);
  }

  async #askUntilAnswered(creation: Creation): Promise<void> {
    for (const end = Date.now() + ASK_FOR_MS; Date.now() < end; ) {
      const isAnswered = await this.#ask(creation);
      if (isAnswered && this.#chance.happens(0.7)) return;
      await sleep(PAUSE_MS + this.#chance.below(PAUSE_MS));
    }
  }

  /** Returns true when the run was created. After false it may exist or not, because the response may have been lost. */
  async #ask(creation: Creation): Promise<boolean> {
    const { realm, major, body, idempotencyKey } = creation;
    const all = this.#urls();
    const url = all[this.#chance.below(Math.max(all.length, 1))];
    if (url === undefined) return false;
    const path = major === 1 ? '/v1/runs' : '/runs';
    const answer = await call(url, realm, path, { major, body, idempotencyKey }).catch(() => undefined);
    if (answer?.status !== 201) {
      if (answer !== undefined && !isExplained(answer))
        this.#refused.push(`a client got the response ${JSON.stringify(answer)}`);
      return false;
    }
    const runId = partsOf(answer.body.runId).bare;
    this.#acknowledged.push({ runId, realm });
    if (idempotencyKey !== undefined) this.#keyed.push({ idempotencyKey, runId });
    return true;
  }
}

interface Creation {
  readonly realm: RealmName;
  readonly major: 1 | 2;
  readonly idempotencyKey: string | undefined;
  readonly body: object;
}

function creationBy(chance: Chance): Creation {
  const workflowId = chance.pick(WORKFLOW_NAMES);
  const idempotencyKey = chance.happens(0.5) ? Buffer.from(chance.random(16)).toString('base64url') : undefined;
  return {
    realm: chance.pick(REALM_NAMES),
    major: chance.pick<1 | 2>([1, 2]),
    idempotencyKey,
    body: {
      workflowId,
      inputs: WORKFLOWS[workflowId]?.inputs(chance),
      tags: chance.happens(0.5) ? [chance.pick(TAGS)] : [],
      // Relates a run to its key when the response to the creation was lost.
      ...(idempotencyKey !== undefined && { metadata: { idempotencyKey } }),
    },
  };
}

/** Returns true for the response of a host whose store fails, or of one that still processes an earlier try. */
function isExplained({ status, body }: Answer): boolean {
  return status === 503 || (status === 409 && body.error === 'idempotency_in_flight');
}

const CLIENTS = 6;
const PAUSE_MS = 250;
const MOST_ASKING = 20;
const ASK_FOR_MS = 30_000;
const REALM_NAMES = Object.keys(REALMS) as [RealmName, ...RealmName[]];
const WORKFLOW_NAMES = Object.keys(WORKFLOWS) as [string, ...string[]];
