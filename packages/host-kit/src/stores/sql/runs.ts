import type { Run, RunDefinition, RunState } from '../../ports/runs.ts';
import { UnreadableRecord } from '../../ports/unreadable-record.ts';
import type { RecordReader } from '../passed-over.ts';
import { runAsStored, type StoredRun } from '../stored-run.ts';
import { integer, optional, type Row, text } from './row.ts';

type Document = Omit<RunDefinition, 'runId' | 'tenant' | 'workspace' | 'mode' | 'scopeId' | 'conversation'>;

/** Returns the `document` column of a run: its immutable fields as JSON. */
export function documentOf(run: Run): string {
  const { workflowId, owner, inputs, configurable, tags, metadata, transport, causationId, fork, parent } = run;
  const { engineVersion, eventLogSchemaVersion, createdAt } = run;
  const document: Record<keyof Document, unknown> = {
    ...{ workflowId, owner, inputs, configurable, tags, metadata, transport, causationId, fork, parent },
    ...{ engineVersion, eventLogSchemaVersion, createdAt },
  };
  return JSON.stringify(document);
}

/** Returns the values of the columns `fork_source`, `parent_run_id` and `parent_node_id`. */
export function relativesOf({ fork, parent }: Run): (string | null)[] {
  return [fork?.sourceRunId ?? null, parent?.runId ?? null, parent?.nodeId ?? null];
}

/** The columns of a run's mutable state, in the order of the values of `stateOf`. */
export const STATE_COLUMNS = [
  'status',
  'last_sequence',
  'started_at',
  'completed_at',
  'error',
  'open_nodes',
  'current_node_id',
  'pause_request',
  'paused_at',
  'cancel_request',
  'usage',
  'files_revision',
  'compensation',
] as const;

/** Returns the values of `STATE_COLUMNS`. */
export function stateOf(run: RunState): (string | number | null)[] {
  const { status, lastSequence, startedAt, completedAt, error } = run;
  const { openNodes, currentNodeId, pauseRequest, pausedAt, cancelRequest, usage, filesRevision, compensation } = run;
  return [
    status,
    lastSequence,
    startedAt ?? null,
    completedAt ?? null,
    json(error),
    json(openNodes),
    currentNodeId ?? null,
    json(pauseRequest),
    pausedAt ?? null,
    json(cancelRequest),
    json(usage),
    filesRevision ?? null,
    json(compensation),
  ];
}

/** The columns of a run's state that most events change. No index has them. */
export const MOVING_COLUMNS = ['last_sequence', 'open_nodes', 'current_node_id', 'usage'] as const;

/** Returns the values of `MOVING_COLUMNS`. */
export function movingStateOf({
  lastSequence,
  openNodes,
  currentNodeId,
  usage,
}: RunState): [lastSequence: number, openNodes: string | null, currentNodeId: string | null, usage: string | null] {
  return [lastSequence, json(openNodes), currentNodeId ?? null, json(usage)];
}

/** Returns true when two states of a run differ in `MOVING_COLUMNS` alone. */
export function differsInMovingState(before: RunState, after: RunState): boolean {
  return FIXED.every((member) => before[member] === after[member]);
}

const FIXED = [
  'status',
  'startedAt',
  'completedAt',
  'error',
  'pauseRequest',
  'pausedAt',
  'cancelRequest',
  'filesRevision',
  'compensation',
] as const satisfies readonly (keyof RunState)[];

/** Reads the rows of runs. */
export const RUNS: RecordReader<Row, Run> = { kind: 'run', idOf: (row) => text(row, 'run_id'), read: parsedRun };

function parsedRun(row: Row): Run {
  const document: Omit<StoredRun, Exclude<keyof Run, keyof Document>> = parsed(row, 'document');
  const workspace = optional(row, 'workspace', text);
  const scopeId = optional(row, 'scope_id', text);
  const conversation = optional(row, 'conversation', text);
  return runAsStored({
    ...document,
    runId: text(row, 'run_id'),
    tenant: text(row, 'tenant'),
    ...(workspace !== undefined && { workspace }),
    ...(scopeId !== undefined && { scopeId }),
    ...(conversation !== undefined && { conversation }),
    mode: text(row, 'mode') === 'test' ? 'test' : 'live',
    ...runStateOf(row),
  });
}

function runStateOf(row: Row): RunState {
  const startedAt = optional(row, 'started_at', integer);
  const completedAt = optional(row, 'completed_at', integer);
  const error: RunState['error'] = parsed(row, 'error');
  const openNodes: RunState['openNodes'] = parsed(row, 'open_nodes');
  const currentNodeId = optional(row, 'current_node_id', text);
  const pauseRequest: RunState['pauseRequest'] = parsed(row, 'pause_request');
  const pausedAt = optional(row, 'paused_at', integer);
  const cancelRequest: RunState['cancelRequest'] = parsed(row, 'cancel_request');
  const usage: RunState['usage'] = parsed(row, 'usage');
  const filesRevision = optional(row, 'files_revision', integer);
  const compensation: RunState['compensation'] = parsed(row, 'compensation');
  return {
    status: text(row, 'status') as RunState['status'],
    lastSequence: integer(row, 'last_sequence'),
    ...(startedAt !== undefined && { startedAt }),
    ...(completedAt !== undefined && { completedAt }),
    ...(error !== undefined && { error }),
    ...(openNodes !== undefined && { openNodes }),
    ...(currentNodeId !== undefined && { currentNodeId }),
    ...(pauseRequest !== undefined && { pauseRequest }),
    ...(pausedAt !== undefined && { pausedAt }),
    ...(cancelRequest !== undefined && { cancelRequest }),
    ...(usage !== undefined && { usage }),
    ...(filesRevision !== undefined && { filesRevision }),
    ...(compensation !== undefined && { compensation }),
  };
}

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function parsed(row: Row, column: string) {
  const value = optional(row, column, text);
  if (value === undefined) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    // Without the cause, whose message repeats a part of the text.
    throw new UnreadableRecord('run', text(row, 'run_id'), `its ${column} is no JSON`);
  }
}
