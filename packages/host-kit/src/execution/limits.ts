import { isJsonObject, type Json } from '../json.ts';
import type { NewEvent, RunOutcome } from '../ports/engine.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import { wholeLog } from './whole-log.ts';

/** The limits of runs that the host sets. The kit enforces them. */
export interface RunLimits {
  /** The most executions of nodes in a run, retries included. Absent: no limit. */
  readonly maxNodeExecutions?: number;
  /** The longest duration of a run in ms, without the time in which it waits or is paused. Absent: no limit. */
  readonly maxRunDurationMs?: number;
  /** The most completed executions of one node. Absent: no limit. */
  readonly maxLoopIterations?: number;
  /** The most clarifications that one node may ask for. */
  readonly clarificationRounds: number;
}

/** A limit that an event would exceed: `cap.breached` and the end of the run. */
export interface Breach {
  readonly breached: NewEvent;
  readonly outcome: RunOutcome & { readonly status: 'failed' };
}

/** Counts the node executions of a run in one turn against the limits of the host and of the caller. */
export class NodeLimits {
  readonly #nodes: number;
  readonly #loops: number;
  readonly #readLog: () => AsyncIterable<RunEvent>;
  /** The completed executions of each node. Undefined until a limit needs them. */
  #completed: Map<string, number> | undefined;
  /** Counted executions that may not be committed yet, in the order of the log. */
  #open: { readonly nodeId: string; readonly sequence: number }[] = [];

  constructor(store: Store, run: Run, limits: RunLimits) {
    const { recursionLimit, maxLoopIterations } = callersLimits(run);
    this.#nodes = Math.min(recursionLimit, limits.maxNodeExecutions ?? Number.POSITIVE_INFINITY);
    this.#loops = Math.min(maxLoopIterations, limits.maxLoopIterations ?? Number.POSITIVE_INFINITY);
    this.#readLog = () => wholeLog(store, run);
  }

  /** Reads the log when a limit of loops needs it. Call it before `breachIn`, outside of a transaction. */
  async prepare(): Promise<void> {
    if (this.#loops === Number.POSITIVE_INFINITY || this.#completed !== undefined) return;
    const completed = new Map<string, number>();
    for await (const event of this.#readLog()) countCompleted(completed, event);
    this.#completed ??= completed;
  }

  /** Counts events that were recorded in a transaction. Other steps of the same transaction see the count. */
  count(recorded: readonly RunEvent[]): void {
    if (this.#completed === undefined) return;
    for (const event of recorded) {
      countCompleted(this.#completed, event);
      const nodeId = completedNode(event);
      if (nodeId !== undefined) this.#open.push({ nodeId, sequence: event.sequence });
    }
  }

  /**
   * Takes back what was counted in a transaction that was undone. Call it first in a transaction.
   *
   * @param lastSequence of the log, as the transaction sees it
   */
  takeBack(lastSequence: number): void {
    for (let last = this.#open.at(-1); last !== undefined && last.sequence > lastSequence; last = this.#open.at(-1)) {
      this.#open.pop();
      this.#completed?.set(last.nodeId, (this.#completed.get(last.nodeId) ?? 0) - 1);
    }
  }

  /** Notes that the log is committed up to a sequence. */
  committed(lastSequence: number): void {
    this.#open = this.#open.filter(({ sequence }) => sequence > lastSequence);
  }

  /** Finds the first event that exceeds a limit. */
  breachIn({ usage }: Run, events: readonly NewEvent[]): { readonly at: number; readonly breach: Breach } | undefined {
    let started = usage?.nodeExecutions ?? 0;
    const completed = new Map<string, number>();
    for (const [at, event] of events.entries()) {
      countCompleted(completed, event);
      if (event.type !== 'node.started') continue;
      started += 1;
      if (started > this.#nodes) return { at, breach: tooManyNodes(this.#nodes, started) };
      const nodeId = nodeOf(event) ?? '';
      const iteration = (this.#completed?.get(nodeId) ?? 0) + (completed.get(nodeId) ?? 0) + 1;
      if (iteration > this.#loops) return { at, breach: tooManyLoops(this.#loops, iteration) };
    }
    return undefined;
  }
}

function countCompleted(completed: Map<string, number>, event: NewEvent): void {
  const nodeId = completedNode(event);
  if (nodeId !== undefined) completed.set(nodeId, (completed.get(nodeId) ?? 0) + 1);
}

function completedNode(event: NewEvent): string | undefined {
  return event.type === 'node.completed' ? nodeOf(event) : undefined;
}

/** The payload of a node's event names its node, and so may the event itself. */
function nodeOf({ nodeId, payload }: NewEvent): string | undefined {
  if (nodeId !== undefined) return nodeId;
  return isJsonObject(payload) && typeof payload.nodeId === 'string' ? payload.nodeId : undefined;
}

/** Counts the clarifications that a node asked for, from the log. */
export async function clarificationsOf(store: Store, run: Run, nodeId: string): Promise<number> {
  const asked = new Set<Json | undefined>();
  for await (const { type, payload, nodeId: of } of wholeLog(store, run)) {
    if (type !== 'interrupt.requested' || of !== nodeId || !isJsonObject(payload)) continue;
    if (payload.kind === 'clarification') asked.add(payload.interruptId);
  }
  return asked.size;
}

/** @param observed the round that was not asked */
export function tooManyClarifications(limit: number, observed: number): Breach {
  return breachOf('clarification', limit, observed, {
    code: 'loop_limit_exceeded',
    message: `A node asked for more than ${limit} clarifications.`,
  });
}

function tooManyNodes(limit: number, observed: number): Breach {
  return breachOf('node-executions', limit, observed, {
    code: 'recursion_limit_exceeded',
    message: `The run started more than ${limit} node executions.`,
  });
}

function tooManyLoops(limit: number, observed: number): Breach {
  return breachOf('loop-iterations', limit, observed, {
    code: 'loop_limit_exceeded',
    message: `A node was executed more than ${limit} times.`,
  });
}

/** The limits of a caller. Major 2 has them in a section; major 1 has an open map with one reserved key. */
function callersLimits({ configurable }: Run): { readonly recursionLimit: number; readonly maxLoopIterations: number } {
  const section = isJsonObject(configurable?.run) ? configurable.run : {};
  return {
    recursionLimit: limitIn(section.recursionLimit ?? configurable?.recursionLimit),
    maxLoopIterations: limitIn(section.maxLoopIterations),
  };
}

function limitIn(value: Json | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : Number.POSITIVE_INFINITY;
}

/** A time after which a run fails, and the breach then. */
export interface TimeLimit {
  /** The time that is left, in ms. */
  readonly leftMs: number;
  /** @param ms the time since the limit was made */
  breachAfter(ms: number): Breach;
}

/** The times of a run, when a turn begins. */
export interface RunTimes {
  readonly limits: Pick<RunLimits, 'maxRunDurationMs'>;
  /** When the run started, in ms since the epoch. */
  readonly startedAt: number;
  /** The time for which hosts have driven the run, in ms. */
  readonly drivenMs: number;
  /** The time of the day, in ms since the epoch. */
  readonly now: number;
}

/**
 * Returns the next time limit of a run. `runTimeoutMs` of its caller counts from its start by the time of the day, and
 * at least the time for which it was driven. `maxRunDurationMs` of the host counts the time for which it was driven, so
 * neither waits and pauses nor a clock that is set count. Both count from the creation of a fork, whose log begins with
 * the start of its source. Undefined when it has none.
 */
export function timeLimitOf(run: Run, { limits, startedAt, drivenMs, now }: RunTimes): TimeLimit | undefined {
  const section = isJsonObject(run.configurable?.run) ? run.configurable.run : {};
  const start = run.fork === undefined ? startedAt : Math.max(startedAt, run.createdAt);
  const candidates = [
    // The clock may have been set back since the start of the run.
    { name: 'runTimeoutMs', ms: limitIn(section.runTimeoutMs), passed: Math.max(now - start, drivenMs) },
    { name: 'maxRunDurationMs', ms: limits.maxRunDurationMs ?? Number.POSITIVE_INFINITY, passed: drivenMs },
  ];
  const [next] = candidates.filter(({ ms }) => Number.isFinite(ms)).sort((a, b) => a.ms - a.passed - (b.ms - b.passed));
  if (next === undefined) return undefined;
  const { name, ms, passed } = next;
  return {
    leftMs: ms - passed,
    breachAfter: (later) =>
      breachOf('run-duration', ms, Math.round(passed + later), {
        code: 'run_timeout',
        message: `The run took longer than ${name} allows.`,
      }),
  };
}

function breachOf(
  kind: string,
  limit: number,
  observed: number,
  error: { readonly code: string; readonly message: string },
): Breach {
  return {
    breached: { type: 'cap.breached', payload: { kind, limit, observed } },
    outcome: { status: 'failed', error: { ...error, retryable: false } },
  };
}
