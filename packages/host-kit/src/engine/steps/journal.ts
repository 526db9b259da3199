import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import type { ReplayedNode } from '../../ports/engine.ts';
import type { RunEvent } from '../../ports/events.ts';
import type { RunFailure } from '../../ports/runs.ts';

/** The work of a run so far, as its log records it. The engine has no other state. */
export interface Journal {
  readonly steps: ReadonlyMap<string, StepRecord>;
  /** The failure after which the run compensates. Undefined: it has not failed. */
  readonly failure: RecordedFailure | undefined;
  /** Returns the total time for which the run was paused after `time`, in ms. */
  readonly pausedSince: (time: number) => number;
}

/** The failure of a workflow, and the steps that are compensated after it, in their order. */
export interface RecordedFailure {
  readonly error: RunFailure & { readonly retryable: boolean };
  readonly step: string | undefined;
  readonly steps: readonly string[];
}

/** The log of one step. */
export interface StepRecord {
  /** The kind of the step, as its starts name it. */
  readonly typeId: string;
  /** The number of its starts. */
  readonly starts: number;
  /** The time of its first start, in ms since the epoch. */
  readonly startedAt: number;
  /** The id of the event of its first start. */
  readonly startedBy: string;
  /** The number of attempts that failed and were to be repeated. */
  readonly retries: number;
  /** The next attempt, while none has started since the last one failed. */
  readonly retry: { readonly failedAt: number; readonly delayMs: number } | undefined;
  readonly outcome: ReplayedNode | undefined;
  /** The sequence of its end; undefined: it has not ended. */
  readonly endedAt: number | undefined;
  /** The ids of the artifacts that it made. */
  readonly artifacts: readonly string[];
}

/** Reads a log once, and keeps one record for each step, so that a long log needs no more memory than a short one. */
export async function readJournal(history: AsyncIterable<RunEvent>): Promise<Journal> {
  const steps = new Map<string, StepRecord>();
  let recorded: RecordedFailure | undefined;
  const pauses: { readonly from: number; to: number }[] = [];
  for await (const event of history) {
    const { type, nodeId, timestamp } = event;
    if (type === 'run.paused') pauses.push({ from: timestamp, to: timestamp });
    const pause = pauses.at(-1);
    if (type === 'run.resumed' && pause !== undefined) pause.to = timestamp;
    if (type === 'compensation.requested') recorded ??= recordedFailureOf(event);
    if (nodeId === undefined) continue;
    const record = steps.get(nodeId) ?? (type === 'node.started' ? firstStart(event) : undefined);
    if (record !== undefined) steps.set(nodeId, afterEvent(record, event));
  }
  return {
    steps,
    failure: recorded,
    pausedSince: (time) => pauses.reduce((sum, { from, to }) => sum + Math.max(to - Math.max(from, time), 0), 0),
  };
}

function firstStart({ payload, timestamp, eventId }: RunEvent): StepRecord {
  const typeId = String(member(payload, 'typeId'));
  const start = { typeId, startedAt: timestamp, startedBy: eventId };
  return { ...start, starts: 0, retries: 0, retry: undefined, outcome: undefined, endedAt: undefined, artifacts: [] };
}

function recordedFailureOf({ payload }: RunEvent): RecordedFailure {
  const step = member(payload, 'failedNodeId');
  const steps = member(payload, 'nodes');
  return {
    error: failure(member(payload, 'error')),
    step: typeof step === 'string' ? step : undefined,
    steps: Array.isArray(steps) ? steps.map(String) : [],
  };
}

function afterEvent(record: StepRecord, { type, payload, timestamp, sequence }: RunEvent): StepRecord {
  switch (type) {
    case 'node.started':
      return { ...record, starts: record.starts + 1, retry: undefined };
    case 'node.retried':
      return {
        ...record,
        retries: record.retries + 1,
        retry: { failedAt: timestamp, delayMs: Number(member(payload, 'delayMs') ?? 0) },
      };
    case 'node.completed':
      return {
        ...record,
        endedAt: sequence,
        outcome: { status: 'completed', outputs: object(member(payload, 'outputs')) },
      };
    case 'node.failed':
      return { ...record, outcome: { status: 'failed', error: failure(member(payload, 'error')) } };
    case 'artifact.created':
      return { ...record, artifacts: [...record.artifacts, String(member(payload, 'artifactId'))] };
    default:
      return record;
  }
}

function failure(error: Json | undefined) {
  const { code, message, retryable, details } = object(error);
  return {
    ...{ code: String(code), message: String(message), retryable: retryable === true },
    ...(isJsonObject(details) && { details }),
  };
}

function member(value: Json, name: string): Json | undefined {
  return object(value)[name];
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
