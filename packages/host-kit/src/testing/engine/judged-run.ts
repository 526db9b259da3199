import { isJsonObject, type Json } from '../../json.ts';
import type { RunEvent } from '../../ports/events.ts';
import type { Run } from '../../ports/runs.ts';
import { isTerminalEvent } from '../../runs/transitions.ts';
import type { HostProcess } from './host-process.ts';
import type { EngineAssertions } from './options.ts';

/** An ended run with its log. */
export interface JudgedRun {
  readonly run: Run;
  readonly log: readonly RunEvent[];
  /** The ids of the nodes that completed, in the order of the log. */
  readonly completed: readonly string[];
  readonly outputs: Json | undefined;
}

/**
 * Waits for the end of a run, and asserts what holds for every run: its log ends with its only terminal event, no node
 * is open, the engine has returned, did not reject, and asks for nothing afterwards.
 */
export async function judged(process: HostProcess, assert: EngineAssertions, runId: string): Promise<JudgedRun> {
  await process.ends(runId);
  await process.left();
  const run = await process.read(runId);
  const log = await process.log(runId);
  const own = process.watched.turns.filter((turn) => turn.run.runId === runId);
  assert.deepEqual(
    {
      'sequences of the log': log.map(({ sequence }) => sequence),
      'places of terminal events': log.flatMap(({ type }, index) => (isTerminalEvent(type) ? [index] : [])),
      'nodes that never ended': run.status === 'cancelled' ? [] : openNodes(log),
      'rejections of execute': own.flatMap(({ rejection }) => (rejection === undefined ? [] : [String(rejection)])),
      'calls after execute had returned': own.flatMap(({ late }) => late),
    },
    {
      'sequences of the log': log.map((_event, index) => index),
      'places of terminal events': [log.length - 1],
      'nodes that never ended': [],
      'rejections of execute': [],
      'calls after execute had returned': [],
    },
  );
  return {
    ...{ run, log },
    completed: log.flatMap(({ type, nodeId }) => (type === 'node.completed' && nodeId ? [nodeId] : [])),
    outputs: memberOf(log.find(({ type }) => type === 'run.completed')?.payload, 'outputs'),
  };
}

/** Returns a member of a payload. */
export function memberOf(payload: Json | undefined, name: string): Json | undefined {
  return isJsonObject(payload) ? payload[name] : undefined;
}

/** Returns the number of the events of a type. */
export function countOf(log: readonly RunEvent[], type: string): number {
  return log.filter((event) => event.type === type).length;
}

/** Returns the starts of nodes after their ends. */
export function startsAfterEnds(log: readonly RunEvent[]): string[] {
  const ended = new Set<string | undefined>();
  return log.flatMap(({ type, nodeId = '' }) => {
    if (ENDS_NODE.has(type)) ended.add(nodeId);
    return type === 'node.started' && ended.has(nodeId) ? [nodeId] : [];
  });
}

function openNodes(log: readonly RunEvent[]): string[] {
  const open = new Set<string>();
  for (const { type, nodeId = '' } of log) {
    if (type === 'node.started') open.add(nodeId);
    if (ENDS_NODE.has(type)) open.delete(nodeId);
  }
  return [...open];
}

const ENDS_NODE: ReadonlySet<string> = new Set(['node.completed', 'node.failed', 'node.skipped', 'node.cancelled']);
