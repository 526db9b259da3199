import type { RunStatus } from '../ports/runs.ts';

/**
 * A cause of a status change: an event of the run's log, or a request to cancel, which is stored outside of the log.
 */
export type RunSignal =
  | 'run.started'
  | 'run.paused'
  | 'run.resumed'
  | 'run.completed'
  | 'run.failed'
  | 'run.cancelled'
  /** Three signals of `interrupt.requested`, by the party that answers. */
  | 'waits-for-approval'
  | 'waits-for-input'
  | 'waits-for-event'
  | 'interrupt.resolved'
  | 'cancel-requested';

/**
 * Returns the status after a signal; undefined when the status does not accept the signal. The three terminal statuses
 * accept none.
 *
 * @see Interface: States and transitions
 */
export function statusAfter(status: RunStatus, signal: RunSignal): RunStatus | undefined {
  return TRANSITIONS[status][signal];
}

/** Returns true for an event that ends its run. */
export function isTerminalEvent(type: string): boolean {
  return type === 'run.completed' || type === 'run.failed' || type === 'run.cancelled';
}

type Moves = Readonly<Partial<Record<RunSignal, RunStatus>>>;

/** A cancellable run is also cancelled at once when no host executes it. */
const CANCELLABLE: Moves = { 'cancel-requested': 'cancelling', 'run.cancelled': 'cancelled' };

const WAITING: Moves = { ...CANCELLABLE, 'interrupt.resolved': 'running', 'run.failed': 'failed' };

/**
 * All transitions of a run. A waiting run cannot be paused: no node of it is executing. After an acknowledged cancel,
 * `cancelled` is the only end: a later result is rejected.
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
