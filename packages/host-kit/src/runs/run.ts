import type { OwnerRecord } from '@svc/versioning/projection';
import type { Json, JsonObject } from '../json.ts';

/** @see Interface: States and transitions */
export type RunStatus =
  | 'pending'
  | 'running'
  | 'paused'
  | 'waiting-approval'
  | 'waiting-input'
  | 'waiting-external'
  | 'completed'
  | 'failed'
  | 'cancelling'
  | 'cancelled';

export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
}

/** A run as it is stored: neutral, with its bare id. What a caller sees of it is projected by `wire/run.ts`. */
export interface Run {
  readonly runId: string;
  readonly tenant: string;
  /** Absent: a run of the whole tenant. */
  readonly workspace?: string;
  readonly mode: 'live' | 'test';
  readonly workflowId: string;
  readonly status: RunStatus;
  readonly owner: OwnerRecord;
  readonly inputs: JsonObject;
  readonly configurable?: JsonObject;
  readonly tags: readonly string[];
  readonly metadata?: JsonObject;
  readonly engineVersion: number;
  readonly eventLogSchemaVersion: number;
  /** Sequence of the newest event, -1 before the first. */
  readonly lastSequence: number;
  /** How often another host took it over; absent: never. What executes a run appends under the epoch that it took the run up in. */
  readonly epoch?: number;
  /** Times in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly completedAt?: number;
  readonly error?: RunFailure;
}

/** What one appended event changes of its run. */
export type RunChange = Pick<Run, 'status' | 'lastSequence'> &
  Partial<Pick<Run, 'startedAt' | 'completedAt' | 'error'>>;

export function isTerminal(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** The run as it was created: what its events make of it is what `afterEvent` tells. */
export function beforeFirstEvent(run: Run): Run {
  const { startedAt: _1, completedAt: _2, error: _3, ...created } = run;
  return { ...created, status: 'pending', lastSequence: -1 };
}

/** Whether an event ends its run. */
export function isTerminalEvent(type: string): boolean {
  const status = STATUS_AFTER[type];
  return status !== undefined && isTerminal(status);
}

/** The run after `event`: its status by the table below, and the times and the error that go with it. */
export function afterEvent(
  run: Run,
  event: { readonly type: string; readonly payload: Json; readonly sequence: number; readonly timestamp: number },
): RunChange {
  const status = STATUS_AFTER[event.type] ?? run.status;
  return {
    status,
    lastSequence: event.sequence,
    ...(event.type === 'run.started' && { startedAt: event.timestamp }),
    ...(isTerminal(status) && { completedAt: event.timestamp }),
    ...(event.type === 'run.failed' && { error: failureIn(event.payload) }),
  };
}

/** The run as an event left it, whole. */
export function runAfter(run: Run, event: Parameters<typeof afterEvent>[1]): Run {
  return { ...run, ...afterEvent(run, event) };
}

/** Every event type that moves a run, with the status it moves it to. */
const STATUS_AFTER: Readonly<Record<string, RunStatus>> = {
  'run.started': 'running',
  'run.paused': 'paused',
  'run.resumed': 'running',
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

function failureIn(payload: Json): RunFailure {
  const error = member(payload, 'error');
  const code = member(error, 'code');
  const message = member(error, 'message');
  const details = member(error, 'details');
  return {
    code: typeof code === 'string' ? code : 'internal_error',
    message: typeof message === 'string' ? message : 'The run failed.',
    ...(isObject(details) && { details }),
  };
}

function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
