import type { RunStatus } from '../ports/runs.ts';

/** What moves a run: most of it is an event of its log; a request to cancel is a fact beside the log. */
export type RunSignal =
  | 'run.started'
  | 'run.paused'
  | 'run.resumed'
  | 'run.completed'
  | 'run.failed'
  | 'run.cancelled'
  /** An interrupt was requested, by what answers it. */
  | 'waits-for-approval'
  | 'waits-for-input'
  | 'waits-for-event'
  | 'interrupt.resolved'
  | 'cancel-requested';

/**
 * The status after a signal; undefined when the signal is not to be had there. Three statuses have no way out.
 *
 * @see Interface: States and transitions
 */
export function statusAfter(status: RunStatus, signal: RunSignal): RunStatus | undefined {
  return TRANSITIONS[status][signal];
}

/** Whether an event ends its run. */
export function isTerminalEvent(type: string): boolean {
  return type === 'run.completed' || type === 'run.failed' || type === 'run.cancelled';
}

type Moves = Readonly<Partial<Record<RunSignal, RunStatus>>>;

/** A run that can be cancelled may also be cancelled at once, by a host that has nothing under way for it. */
const CANCELLABLE: Moves = { 'cancel-requested': 'cancelling', 'run.cancelled': 'cancelled' };

const WAITING: Moves = { ...CANCELLABLE, 'interrupt.resolved': 'running', 'run.failed': 'failed' };

/**
 * The whole life of a run. What waits is not paused: nothing of it is under way. Once a cancel was acknowledged, `cancelled` is the only
 * end: a result that comes later is not taken.
 */
const TRANSITIONS: Readonly<Record<RunStatus, Moves>> = {
  pending: { ...CANCELLABLE, 'run.started': 'running', 'run.failed': 'failed' },
  running: {
    ...CANCELLABLE,
    'run.paused': 'paused',
    'waits-for-approval': 'waiting-approval',
    'waits-for-input': 'waiting-input',
    'waits-for-event': 'waiting-external',
    'run.completed': 'completed',
    'run.failed': 'failed',
  },
  paused: { ...CANCELLABLE, 'run.resumed': 'running' },
  'waiting-approval': WAITING,
  'waiting-input': WAITING,
  'waiting-external': WAITING,
  cancelling: { 'run.cancelled': 'cancelled' },
  completed: {},
  failed: {},
  cancelled: {},
};
