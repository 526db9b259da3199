import type { Chance } from '@svc/tools/chance';
import { type Answer, call } from './api.ts';
import { sleep } from './child.ts';
import type { KeyedAnswer } from './evidence.ts';
import { REALMS, type RealmName, TAGS, WORKFLOWS } from './plan.ts';
import { partsOf } from './records.ts';

/** A run whose creation was answered 201: from then on all of its log is owed to whoever subscribed to it. */
export interface AcknowledgedRun {
  readonly runId: string;
  readonly realm: RealmName;
}

export interface Clients {
  readonly acknowledged: readonly AcknowledgedRun[];
  readonly keyed: readonly KeyedAnswer[];
  /** Answers that no disturbance explains. */
  readonly refused: readonly string[];
  /** Resolves when the last call has ended. */
  stop(): Promise<void>;
}

/**
 * Clients that create runs without a pause, at whichever host is there, and note what they were answered. Half of them bring an
 * idempotency key, ask until they are answered, and sometimes once more.
 */
export function startClients(urls: () => readonly string[], chance: Chance): Clients {
  const acknowledged: AcknowledgedRun[] = [];
  const keyed: KeyedAnswer[] = [];
  const refused: string[] = [];
  /** Those who ask until they are answered. */
  const asking = new Set<Promise<void>>();
  let stopped = false;
  const loops = Array.from({ length: CLIENTS }, client);

  return {
    acknowledged,
    keyed,
    refused,
    async stop() {
      stopped = true;
      await Promise.all(loops);
      await Promise.all(asking);
    },
  };

  async function client(): Promise<void> {
    while (!stopped) {
      const creation = drawn();
      if (creation.idempotencyKey === undefined) await ask(creation);
      // A key whose host was killed is held for a while; the others need not wait for that.
      else if (asking.size < MOST_ASKING) beginAsking(creation);
      await sleep(PAUSE_MS / 2 + chance.below(PAUSE_MS));
    }
  }

  function drawn(): Creation {
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
        // So that a run can be told by it, too, whose creation was not answered.
        ...(idempotencyKey !== undefined && { metadata: { idempotencyKey } }),
      },
    };
  }

  function beginAsking(creation: Creation): void {
    const done: Promise<void> = askUntilAnswered(creation).finally(() => asking.delete(done));
    asking.add(done);
  }

  async function askUntilAnswered(creation: Creation): Promise<void> {
    for (const end = Date.now() + ASK_FOR_MS; Date.now() < end; ) {
      const isAnswered = await ask(creation);
      if (isAnswered && chance.happens(0.7)) return;
      await sleep(PAUSE_MS + chance.below(PAUSE_MS));
    }
  }

  /** Whether it was answered. What became of a call that was not may be one or the other. */
  async function ask(creation: Creation): Promise<boolean> {
    const { realm, major, body, idempotencyKey } = creation;
    const all = urls();
    const url = all[chance.below(Math.max(all.length, 1))];
    if (url === undefined) return false;
    const path = major === 1 ? '/v1/runs' : '/runs';
    const answer = await call(url, realm, path, { major, body, idempotencyKey }).catch(() => undefined);
    if (answer?.status !== 201) {
      if (answer !== undefined && !isExplained(answer)) refused.push(`a client was answered ${JSON.stringify(answer)}`);
      return false;
    }
    const runId = partsOf(answer.body.runId).bare;
    acknowledged.push({ runId, realm });
    if (idempotencyKey !== undefined) keyed.push({ idempotencyKey, runId });
    return true;
  }
}

interface Creation {
  readonly realm: RealmName;
  readonly major: 1 | 2;
  readonly idempotencyKey: string | undefined;
  readonly body: object;
}

/** A host in trouble, or one that still works on an earlier try. */
function isExplained({ status, body }: Answer): boolean {
  return status >= 500 || (status === 409 && body.error === 'idempotency_in_flight');
}

const CLIENTS = 6;
const PAUSE_MS = 250;
const MOST_ASKING = 20;
const ASK_FOR_MS = 30_000;
const REALM_NAMES = Object.keys(REALMS) as [RealmName, ...RealmName[]];
const WORKFLOW_NAMES = Object.keys(WORKFLOWS) as [string, ...string[]];
