import { interruptAnswerOf } from '../interrupts/answer.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { NewEvent, ReplayedNode } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import type { InterruptAnswer, QuestionPlace } from '../ports/interrupts.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { OpenRun } from '../runs/event-log.ts';
import { type ForkParts, historyOf, sourceOf, takeOver } from './history.ts';
import { wholeLog } from './whole-log.ts';

/** Makes the replay of a run; undefined for a run that is no replay. */
export function replayOf(parts: ForkParts): Replay | undefined {
  const source = sourceOf(parts.run);
  return source === undefined || parts.run.fork?.mode !== 'replay' ? undefined : new Replay(parts, source);
}

/**
 * Repeats the source of a replay: the events of its nodes and the answers to its questions are copied, nothing is
 * executed.
 */
export class Replay {
  readonly #parts: ForkParts;
  readonly #source: Run;
  /** How far the replay's own log has come with each node; read from it when the first node is replayed. */
  #progress: Promise<Map<string, Progress>> | undefined;
  /** The highest sequence in the source's log at which a replayed node ended; -1 before the first. */
  #position = -1;
  #hasDiverged = false;

  constructor(parts: ForkParts, source: Run) {
    this.#parts = parts;
    this.#source = source;
  }

  /**
   * Replays the next execution of a node. Without an outcome in the source, the node fails with
   * `replay_source_missing`.
   */
  async node(nodeId: string): Promise<ReplayedNode> {
    this.#progress ??= progressOf(this.#parts.store, this.#parts.run);
    const nodes = await this.#progress;
    const progress = nodes.get(nodeId) ?? NOTHING;
    const end = await this.#endOf(nodeId, progress.ended);
    if (end === undefined) {
      await this.#diverge(nodeId, 'outcome-missing');
      return await this.#missing(nodeId);
    }
    if (end.sequence < this.#position) await this.#diverge(nodeId, 'order');
    await this.#takeOverExecution(nodeId, progress, end);
    nodes.set(nodeId, { ended: progress.ended + 1, taken: 0 });
    this.#position = Math.max(this.#position, end.sequence);
    return outcomeOf(end);
  }

  /** Returns the answer that a question got in the source; undefined when it got none. */
  async answer({ transaction }: OpenRun, { nodeId, key }: QuestionPlace): Promise<InterruptAnswer | undefined> {
    const asked = await this.#parts.store.interrupts.byKey(this.#source.runId, nodeId, key, transaction);
    return asked?.resolution && interruptAnswerOf(asked.resolution);
  }

  /**
   * Copies the execution of a node that follows the `ended` ones. Its first `taken` events are in the replay's log
   * already: they belong to the fork's history, or an earlier turn copied them.
   */
  async #takeOverExecution(nodeId: string, { ended, taken }: Progress, end: RunEvent): Promise<void> {
    const { store, change } = this.#parts;
    let skipped = 0;
    let seen = 0;
    let batch: RunEvent[] = [];
    for await (const event of wholeLog(store, this.#source)) {
      if (event.nodeId !== nodeId) continue;
      if (skipped < ended) {
        if (ENDS_NODE.has(event.type)) skipped += 1;
        continue;
      }
      seen += 1;
      if (seen > taken) batch.push(event);
      const isEnd = event.sequence === end.sequence;
      if (batch.length >= BATCH || isEnd) {
        const history = await historyOf(store, this.#source, batch);
        batch = [];
        await change((open) => takeOver(store, open, history));
      }
      if (isEnd) return;
    }
  }

  /** Finds the event that ended the execution after `skip` others. A cancelled execution has no outcome to replay. */
  async #endOf(nodeId: string, skip: number): Promise<RunEvent | undefined> {
    let skipped = 0;
    for await (const event of wholeLog(this.#parts.store, this.#source)) {
      if (event.nodeId !== nodeId || !ENDS_NODE.has(event.type)) continue;
      if (skipped === skip) return event.type === 'node.cancelled' ? undefined : event;
      skipped += 1;
    }
    return undefined;
  }

  /** Records the first divergence from the source. Later differences follow from it and are not recorded. */
  async #diverge(nodeId: string, divergenceKind: string): Promise<void> {
    if (this.#hasDiverged) return;
    this.#hasDiverged = true;
    const position = this.#position;
    const [original] = await this.#parts.store.events.list(this.#source, { after: position, limit: 1 });
    const payload = {
      ...{ sourceRunId: this.#source.runId, atSequence: original?.sequence ?? position + 1 },
      ...(original !== undefined && { originalEventId: original.eventId }),
      ...{ divergenceKind, divergencePoint: nodeId },
    };
    await this.#parts.change((open) => open.append({ type: 'replay.diverged', payload }));
  }

  async #missing(nodeId: string): Promise<ReplayedNode> {
    const message = 'The source run has no outcome of this node to replay.';
    const error = { code: 'replay_source_missing', message, retryable: false };
    const failed: NewEvent = { type: 'node.failed', nodeId, payload: { nodeId, error } };
    await this.#parts.change((open) => open.append(failed));
    return { status: 'failed', error };
  }
}

const BATCH = 100;
const ENDS_NODE: ReadonlySet<string> = new Set(['node.completed', 'node.failed', 'node.skipped', 'node.cancelled']);

/** How far the replay's own log has come with a node. */
interface Progress {
  /** How many executions of it have ended. */
  readonly ended: number;
  /** How many events of the execution that is under way are in the log. */
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
