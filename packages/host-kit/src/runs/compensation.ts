import { isJsonObject, type Json } from '../json.ts';
import type { NewEvent, WorkflowEngine } from '../ports/engine.ts';
import { isTerminal, type Run, type RunCompensation } from '../ports/runs.ts';

/** The status of the compensation of a run. @see Interface: RunSnapshot, compensationStatus */
export type CompensationStatus = 'none' | 'pending' | 'running' | 'completed' | 'partial' | 'failed' | 'manual';

/** The compensation of a new run; absent when its engine does not compensate. */
export function newCompensation({ compensation }: Pick<WorkflowEngine, 'compensation'>): Pick<Run, 'compensation'> {
  return compensation === undefined ? {} : { compensation: { compensable: 0 } };
}

/** The compensation of a run after an event. */
export function compensationAfter(
  before: RunCompensation | undefined,
  { type, payload }: { readonly type: string; readonly payload: Json },
): RunCompensation | undefined {
  if (before === undefined) return undefined;
  const { compensable, completed = 0, failed = 0 } = before;
  const members = isJsonObject(payload) ? payload : {};
  switch (type) {
    case 'node.completed':
      return members['x-compensable'] === true ? { ...before, compensable: compensable + 1 } : before;
    case 'compensation.requested':
      return { ...before, requested: Array.isArray(members.nodes) ? members.nodes.length : compensable };
    case 'compensation.started':
      return before.isStarted === true ? before : { ...before, isStarted: true };
    case 'compensation.completed':
      return { ...before, completed: completed + 1 };
    case 'compensation.failed':
      return { ...before, failed: failed + 1 };
    default:
      return before;
  }
}

/**
 * The status of the compensation of a run. `manual`: the run failed or was cancelled, and nothing was compensated, because
 * the host ended it.
 */
export function compensationStatus({ status, compensation }: Pick<Run, 'status' | 'compensation'>): CompensationStatus {
  const { compensable = 0, requested, isStarted = false, completed = 0, failed = 0 } = compensation ?? {};
  if (requested === undefined) {
    return compensable > 0 && (status === 'failed' || status === 'cancelled') ? 'manual' : 'none';
  }
  if (!isTerminal(status) && completed + failed < requested) return isStarted ? 'running' : 'pending';
  if (completed >= requested) return 'completed';
  if (completed > 0) return 'partial';
  return failed > 0 ? 'failed' : 'manual';
}

/** Makes the event before the end of a run that leaves a node uncompensated; undefined when it leaves none. */
export function interventionBefore(type: string, { compensation }: Run): NewEvent | undefined {
  if (compensation === undefined || (type !== 'run.failed' && type !== 'run.cancelled')) return undefined;
  const { compensable, requested = compensable, completed = 0 } = compensation;
  if (completed >= requested) return undefined;
  return { type: 'compensation.manual-intervention-required', payload: { uncompensated: requested - completed } };
}
