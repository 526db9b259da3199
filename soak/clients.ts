import type { Chance } from '@svc/tools/chance';
import { call } from './api.ts';
import { sleep } from './child.ts';
import { REALMS, type RealmName, TAGS, WORKFLOWS } from './plan.ts';
import { partsOf } from './records.ts';

/** A run whose creation was answered 201: from then on all of its log is owed to whoever subscribed to it. */
export interface AcknowledgedRun {
  readonly runId: string;
  readonly realm: RealmName;
  readonly workflow: string;
  readonly tags: readonly string[];
}

export interface Clients {
  readonly acknowledged: readonly AcknowledgedRun[];
  /** Answers that no disturbance explains. */
  readonly refused: readonly string[];
  /** Resolves when the last call has ended. */
  stop(): Promise<void>;
}

/** Clients that create runs without a pause, at whichever host is there, and note what they were answered. */
export function startClients(urls: () => readonly string[], chance: Chance): Clients {
  const acknowledged: AcknowledgedRun[] = [];
  const refused: string[] = [];
  let stopped = false;
  const loops = Array.from({ length: CLIENTS }, client);

  return {
    acknowledged,
    refused,
    async stop() {
      stopped = true;
      await Promise.all(loops);
    },
  };

  async function client(): Promise<void> {
    while (!stopped) {
      const all = urls();
      const url = all[chance.below(Math.max(all.length, 1))];
      // A call that got no answer, or one of a host in trouble, is no promise: what became of it may be one or the other.
      if (url !== undefined) await create(url).catch(() => {});
      await sleep(PAUSE_MS / 2 + chance.below(PAUSE_MS));
    }
  }

  async function create(url: string): Promise<void> {
    const realm = chance.pick(NAMES);
    const workflow = chance.pick(WORKFLOW_NAMES);
    const tags = chance.happens(0.5) ? [chance.pick(TAGS)] : [];
    const major = chance.pick<1 | 2>([1, 2]);
    const inputs = WORKFLOWS[workflow]?.inputs(chance);
    const path = major === 1 ? '/v1/runs' : '/runs';
    const { status, body } = await call(url, realm, path, { major, body: { workflowId: workflow, inputs, tags } });
    if (status === 201) acknowledged.push({ runId: partsOf(body.runId).bare, realm, workflow, tags });
    else if (status < 500) refused.push(`a client was answered ${status}: ${JSON.stringify(body)}`);
  }
}

const CLIENTS = 6;
const PAUSE_MS = 250;
const NAMES = Object.keys(REALMS) as [RealmName, ...RealmName[]];
const WORKFLOW_NAMES = Object.keys(WORKFLOWS) as [string, ...string[]];
