import { interruptAnswerOf } from '../interrupts/answer.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { NewEvent, ReplayedNode } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import type { InterruptAnswer, InterruptRequest } from '../ports/interrupts.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { OpenRun } from '../runs/event-log.ts';
import { type ForkParts, historyOf, sourceOf, takeOver } from './history.ts';
import { wholeLog } from './whole-log.ts';

/** What nodes did in the source of a replay, taken over instead of being done again. */
export interface Replay {
  node(nodeId: string): Promise<ReplayedNode>;
  /** The answer that a question got there, if it got one. */
  answer(open: OpenRun, request: InterruptRequest): Promise<InterruptAnswer | undefined>;
}

/** Undefined for a run that is no replay. */
export function replayOf({ store, run, inTurn }: ForkParts): Replay | undefined {
  const source = sourceOf(run);
  if (source === undefined || run.fork?.mode !== 'replay') return undefined;
  const from = source;
  let progress: Promise<Map<string, Progress>> | undefined;
  /** Where in the source's log what was replayed ended. */
  let position = -1;
  let hasDiverged = false;

  return {
    async node(nodeId) {
      progress ??= progressOf(store, run);
      const nodes = await progress;
      const { ended, taken } = nodes.get(nodeId) ?? NOTHING;
      const end = await endOf(nodeId, ended);
      if (end === undefined) {
        await diverge(nodeId, 'outcome-missing');
        return await missing(nodeId);
      }
      if (end.sequence < position) await diverge(nodeId, 'order');
      await takeOverExecution(nodeId, ended, taken, end);
      nodes.set(nodeId, { ended: ended + 1, taken: 0 });
      position = Math.max(position, end.sequence);
      return outcomeOf(end);
    },
    async answer({ transaction }, { nodeId, key }) {
      const asked = await store.interrupts.byKey(from.runId, nodeId, key, transaction);
      return asked?.resolution && interruptAnswerOf(asked.resolution);
    },
  };

  /** Takes over one execution of a node, the `skip`-th, but for what is already there: the fork's history, or an earlier turn's. */
  async function takeOverExecution(nodeId: string, skip: number, taken: number, end: RunEvent): Promise<void> {
    let skipped = 0;
    let seen = 0;
    let batch: RunEvent[] = [];
    for await (const event of wholeLog(store, from)) {
      if (event.nodeId !== nodeId) continue;
      if (skipped < skip) {
        if (ENDS_NODE.has(event.type)) skipped += 1;
        continue;
      }
      seen += 1;
      if (seen > taken) batch.push(event);
      const isEnd = event.sequence === end.sequence;
      if (batch.length >= BATCH || isEnd) {
        const history = await historyOf(store, from, batch);
        batch = [];
        await inTurn((open) => takeOver(store, open, history));
      }
      if (isEnd) return;
    }
  }

  /** The event with which an execution of a node ended. One that was cut has no outcome to replay. */
  async function endOf(nodeId: string, skip: number): Promise<RunEvent | undefined> {
    let skipped = 0;
    for await (const event of wholeLog(store, from)) {
      if (event.nodeId !== nodeId || !ENDS_NODE.has(event.type)) continue;
      if (skipped === skip) return event.type === 'node.cancelled' ? undefined : event;
      skipped += 1;
    }
    return undefined;
  }

  /** Told once: what follows a divergence differs for it. */
  async function diverge(nodeId: string, divergenceKind: string): Promise<void> {
    if (hasDiverged) return;
    hasDiverged = true;
    const [original] = await store.events.list(from, { after: position, limit: 1 });
    await inTurn(async (open) => {
      const payload = {
        ...{ sourceRunId: from.runId, atSequence: original?.sequence ?? position + 1 },
        ...(original !== undefined && { originalEventId: original.eventId }),
        ...{ divergenceKind, divergencePoint: nodeId },
      };
      await open.append({ type: 'replay.diverged', payload });
    });
  }

  async function missing(nodeId: string): Promise<ReplayedNode> {
    const message = 'The source run has no outcome of this node to replay.';
    const error = { code: 'replay_source_missing', message, retryable: false };
    const failed: NewEvent = { type: 'node.failed', nodeId, payload: { nodeId, error } };
    await inTurn((open) => open.append(failed));
    return { status: 'failed', error };
  }
}

const BATCH = 100;
const ENDS_NODE: ReadonlySet<string> = new Set(['node.completed', 'node.failed', 'node.skipped', 'node.cancelled']);

/** How far the fork's own log has come with a node. */
interface Progress {
  /** How many executions of it have ended. */
  readonly ended: number;
  /** Events of the one that is under way. */
  readonly taken: number;
}

const NOTHING: Progress = { ended: 0, taken: 0 };

async function progressOf(store: Store, run: Run): Promise<Map<string, Progress>> {
  const nodes = new Map<string, Progress>();
  for await (const { nodeId, type } of wholeLog(store, run)) {
    if (nodeId === undefined) continue;
    const { ended, taken } = nodes.get(nodeId) ?? NOTHING;
    nodes.set(nodeId, ENDS_NODE.has(type) ? { ended: ended + 1, taken: 0 } : { ended, taken: taken + 1 });
  }
  return nodes;
}

function outcomeOf({ type, payload }: RunEvent): ReplayedNode {
  if (type === 'node.failed') {
    const { code, message, details, retryable } = objectIn(payload, 'error');
    return {
      status: 'failed',
      error: {
        code: String(code),
        message: String(message),
        ...(isJsonObject(details) && { details }),
        ...(typeof retryable === 'boolean' && { retryable }),
      },
    };
  }
  return { status: 'completed', outputs: objectIn(payload, 'outputs') };
}

function objectIn(payload: Json, name: string): JsonObject {
  const value = isJsonObject(payload) ? payload[name] : undefined;
  return isJsonObject(value) ? value : {};
}
