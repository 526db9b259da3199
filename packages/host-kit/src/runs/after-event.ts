import { isJsonObject, type Json } from '../json.ts';
import {
  isTerminal,
  isWaiting,
  type OpenNode,
  type Run,
  type RunDefinition,
  type RunFailure,
  type RunState,
  type RunUsage,
} from '../ports/runs.ts';
import { compensationAfter } from './compensation.ts';
import { type RunValues, valuesAfter, valuesBefore } from './run-values.ts';
import { type RunSignal, statusAfter } from './transitions.ts';

/** The parts of an event that move its run. */
interface MovingEvent {
  readonly type: string;
  readonly payload: Json;
  readonly nodeId?: string;
  readonly sequence: number;
  readonly timestamp: number;
}

/** A run at a place in its log, with its values there. */
export interface FoldedRun extends Run {
  readonly values: RunValues;
}

/** Returns a run as it was created. `runAfter` replays its events onto it. */
export function beforeFirstEvent(run: Run): FoldedRun {
  const { status: _1, lastSequence: _2, epoch: _3, startedAt: _4, completedAt: _5, error: _6, ...others } = run;
  const { openNodes: _7, currentNodeId: _8, pauseRequest: _9, pausedAt: _10, cancelRequest: _11, ...rest } = others;
  const { usage: _12, filesRevision: _13, compensation, ...definition } = rest;
  // Does not compile when a member of the state is left.
  const made: RunDefinition & { readonly [Member in keyof RunState]?: never } = definition;
  const fresh = compensation === undefined ? {} : { compensation: { compensable: 0 } };
  return { ...made, ...fresh, status: 'pending', lastSequence: -1, values: valuesBefore(run) };
}

/**
 * Replays one stored event onto a run. An event that the transition table would refuse is accepted: it is already
 * recorded.
 */
export function runAfter(run: FoldedRun, event: MovingEvent): FoldedRun {
  const after = afterEvent(run, event) ?? { ...run, lastSequence: event.sequence };
  return { ...after, values: valuesAfter(run.values, event) };
}

/**
 * Returns the run after an event that is about to be appended; undefined when the run's status does not accept the
 * event.
 */
export function afterEvent(run: Run, event: MovingEvent): Run | undefined {
  if (isTerminal(run.status)) return undefined;
  const signal = signalOf(event);
  const status = signal === undefined ? run.status : statusAfter(run.status, signal);
  if (status === undefined) return undefined;
  const { error: _1, openNodes: _2, currentNodeId: _3, pausedAt: _4, pauseRequest, filesRevision, ...kept } = run;
  const usage = usageAfter(run, status, event);
  const compensation = compensationAfter(run.compensation, event);
  const openNodes = isTerminal(status) ? [] : nodesAfter(run.openNodes ?? [], event);
  const currentNodeId = currentNodeAfter(run, status, event);
  const error = event.type === 'run.failed' ? failureIn(event.payload) : run.error;
  // A pause request ends with the pause, and with the run.
  const isPauseRequested = pauseRequest !== undefined && event.type !== 'run.paused' && !isTerminal(status);
  return {
    ...kept,
    status,
    lastSequence: event.sequence,
    ...(event.type === 'run.started' && { startedAt: event.timestamp }),
    ...(isTerminal(status) && { completedAt: event.timestamp }),
    ...(error !== undefined && { error }),
    ...(openNodes.length > 0 && { openNodes }),
    ...(currentNodeId !== undefined && { currentNodeId }),
    ...(isPauseRequested && { pauseRequest }),
    ...(status === 'paused' && { pausedAt: run.pausedAt ?? event.timestamp }),
    ...(usage !== undefined && { usage }),
    ...(compensation !== undefined && { compensation }),
    ...(filesRevision !== undefined && !isTerminal(status) && { filesRevision }),
  };
}

/** Returns the run after an event that was copied as history: only its open nodes, compensation and times change. */
export function afterHistory(run: Run, event: MovingEvent): Run {
  const { openNodes: _, ...kept } = run;
  const openNodes = nodesAfter(run.openNodes ?? [], event);
  const compensation = compensationAfter(run.compensation, event);
  return {
    ...kept,
    lastSequence: event.sequence,
    ...(event.type === 'run.started' && { startedAt: event.timestamp }),
    ...(openNodes.length > 0 && { openNodes }),
    ...(compensation !== undefined && { compensation }),
  };
}

/** Returns the signal of an event to its run's status; undefined when it has none. */
function signalOf({ type, payload }: MovingEvent): RunSignal | undefined {
  return type === 'interrupt.requested' ? waitingFor(member(payload, 'kind')) : MOVING.get(type);
}

const MOVING: ReadonlyMap<string, RunSignal> = new Map(
  (
    [
      'run.started',
      'run.paused',
      'run.resumed',
      'run.completed',
      'run.failed',
      'run.cancelled',
      'interrupt.resolved',
    ] as const
  ).map((type) => [type, type]),
);

/**
 * Returns the signal of a question by its kind: a person decides, a person gives input, or an external system responds.
 */
function waitingFor(kind: Json | undefined): RunSignal {
  if (kind === 'external-event') return 'waits-for-event';
  return kind === 'clarification' || kind === 'custom' ? 'waits-for-input' : 'waits-for-approval';
}

/** Counts the execution of a node, and the time in which the run waits or is paused. */
function usageAfter(run: Run, status: RunState['status'], { type, timestamp }: MovingEvent): RunUsage | undefined {
  const { usage } = run;
  if (type === 'node.started') return { ...usage, nodeExecutions: (usage?.nodeExecutions ?? 0) + 1 };
  const isIdle = status === 'paused' || isWaiting(status);
  if (isIdle) return usage?.idleSince === undefined ? { ...usage, idleSince: timestamp } : usage;
  if (usage?.idleSince === undefined) return usage;
  const { idleSince, idleMs = 0, ...counted } = usage;
  return { ...counted, idleMs: idleMs + Math.max(timestamp - idleSince, 0) };
}

/**
 * A node that starts again is listed once. The list is capped, so that an engine that never ends its nodes cannot grow
 * the run without bound.
 */
function nodesAfter(open: readonly OpenNode[], { type, payload, nodeId }: MovingEvent): readonly OpenNode[] {
  if (!type.startsWith('node.') || nodeId === undefined) return open;
  if (type === 'node.started') {
    const attempt = member(payload, 'attempt');
    const others = open.filter((node) => node.nodeId !== nodeId).slice(-MOST_OPEN_NODES);
    return [...others, { nodeId, attempt: typeof attempt === 'number' ? attempt : 0 }];
  }
  return ENDS_NODE.has(type) ? open.filter((node) => node.nodeId !== nodeId) : open;
}

const ENDS_NODE: ReadonlySet<string> = new Set(['node.completed', 'node.failed', 'node.skipped', 'node.cancelled']);
const MOST_OPEN_NODES = 1000;

function currentNodeAfter(run: Run, status: RunState['status'], { type, nodeId }: MovingEvent): string | undefined {
  if (type === 'interrupt.requested') return nodeId;
  return status === run.status ? run.currentNodeId : undefined;
}

function failureIn(payload: Json): RunFailure {
  const error = member(payload, 'error');
  const code = member(error, 'code');
  const message = member(error, 'message');
  const details = member(error, 'details');
  return {
    code: typeof code === 'string' ? code : 'internal_error',
    message: typeof message === 'string' ? message : 'The run failed.',
    ...(isJsonObject(details) && { details }),
  };
}

function member(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}
