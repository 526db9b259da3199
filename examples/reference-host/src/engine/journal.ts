import type { Json, JsonObject, RunEvent, RunFailure } from '@svc/host-kit';

/** The finished work of a run, as its log records it. The engine has no other state. */
export interface Journal {
  readonly node: (nodeId: string) => NodeRecord;
  /** Returns the total time for which the run was paused after `time`, in ms. */
  readonly pausedSince: (time: number) => number;
}

export interface NodeRecord {
  /** The number of its starts. */
  readonly starts: number;
  /** The time of its first start, in ms since the epoch. */
  readonly startedAt: number | undefined;
  readonly outcome: NodeOutcome | undefined;
  /** The number of its lines in the log. */
  readonly lines: number;
  /** The ids of the artifacts that it made. */
  readonly artifacts: readonly string[];
}

export type NodeOutcome =
  | { readonly status: 'completed'; readonly outputs: JsonObject }
  | { readonly status: 'failed'; readonly error: RunFailure };

/** Reads a log once, and keeps one record for each node, so that a long log needs no more memory than a short one. */
export async function readJournal(history: AsyncIterable<RunEvent>): Promise<Journal> {
  const nodes = new Map<string, NodeRecord>();
  const pauses: { readonly from: number; to: number }[] = [];
  for await (const event of history) {
    const { type, nodeId, timestamp } = event;
    if (type === 'run.paused') pauses.push({ from: timestamp, to: timestamp });
    const pause = pauses.at(-1);
    if (type === 'run.resumed' && pause !== undefined) pause.to = timestamp;
    if (nodeId !== undefined) nodes.set(nodeId, afterEvent(nodes.get(nodeId) ?? UNKNOWN, event));
  }
  return {
    node: (nodeId) => nodes.get(nodeId) ?? UNKNOWN,
    pausedSince: (time) => pauses.reduce((sum, { from, to }) => sum + Math.max(to - Math.max(from, time), 0), 0),
  };
}

const UNKNOWN: NodeRecord = { starts: 0, startedAt: undefined, outcome: undefined, lines: 0, artifacts: [] };

function afterEvent(record: NodeRecord, { type, payload, timestamp }: RunEvent): NodeRecord {
  switch (type) {
    case 'node.started':
      return { ...record, starts: record.starts + 1, startedAt: record.startedAt ?? timestamp };
    case 'node.completed':
      return { ...record, outcome: { status: 'completed', outputs: object(member(payload, 'outputs')) } };
    case 'node.failed':
      return { ...record, outcome: { status: 'failed', error: failure(member(payload, 'error')) } };
    case 'log.appended':
      return { ...record, lines: record.lines + 1 };
    case 'artifact.created':
      return { ...record, artifacts: [...record.artifacts, String(member(payload, 'artifactId'))] };
    default:
      return record;
  }
}

function failure(error: Json | undefined): RunFailure {
  const { code, message } = object(error);
  return { code: String(code), message: String(message) };
}

function member(value: Json, name: string): Json | undefined {
  return object(value)[name];
}

function object(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
