import type { Disturbance, KnownRun, LoggedEvent } from '../evidence.ts';
import { WORKFLOWS } from '../plan.ts';
import type { Rule } from './case.ts';

/**
 * Every run has ended, and its log has the events of its workflow, without gaps or repeats, and one end. Only the start
 * of a node may repeat, with the next attempt number, after a disturbance of the host that executed it.
 */
export const log: Rule = ({ runs, disturbances }) => {
  const losing = disturbances.filter(({ losesOutcomes }) => losesOutcomes);
  return [...runs.flatMap((run) => faultsIn(run, losing)), ...repeated(runs)];
};

function faultsIn({ runId, workflow, status, log: events }: KnownRun, losing: readonly Disturbance[]): string[] {
  const expected = WORKFLOWS[workflow]?.types ?? [];
  const once = events.filter(({ attempt = 0 }) => attempt === 0);
  const again = events.filter(({ attempt = 0 }) => attempt > 0);
  const ends = events.filter(({ type }) => ENDS.has(type));
  const gap = events.findIndex(({ sequence }, index) => sequence !== index);
  const isExplained = again.every((start, index) => start.attempt === index + 1 && isAfterOne(start, events, losing));
  const isWhole = String(once.map(({ type }) => type)) === String(expected) && `run.${status}` === expected.at(-1);
  return [
    ...(ends.length === 1 && ends[0] === events.at(-1) ? [] : [`has ${ends.length} ends, or an event after its end`]),
    ...(gap === -1 ? [] : [`has #${events[gap]?.sequence} where #${gap} should be`]),
    ...(isExplained ? [] : ['started a node again without a disturbance of its host']),
    ...(isWhole ? [] : [`is ${status} after ${events.map(({ type }) => type).join(', ')}`]),
  ].map((fault) => `${runId} (${workflow}) ${fault}`);
}

/** Returns true when a disturbance lies between the previous event and this one, or at most 2 s before. */
function isAfterOne(
  { sequence, at }: LoggedEvent,
  events: readonly LoggedEvent[],
  losing: readonly Disturbance[],
): boolean {
  const before = events[sequence - 1]?.at ?? 0;
  return losing.some(
    ({ from, until }) => from <= withoutSteps(at, from) && until >= withoutSteps(before, from) - MOMENT_MS,
  );
}

/** Returns the time of an event without the whole hours by which the clock of its host was set. */
function withoutSteps(at: number, near: number): number {
  return at - Math.round((at - near) / HOUR_MS) * HOUR_MS;
}

const HOUR_MS = 3_600_000;
const MOMENT_MS = 2000;

function repeated(runs: readonly KnownRun[]): string[] {
  const owners = new Map<string, string>();
  const twice: string[] = [];
  for (const { runId, log: events } of runs) {
    for (const { eventId, sequence } of events) {
      const owner = owners.get(eventId);
      if (owner !== undefined) twice.push(`${eventId} is both ${owner} and ${runId} #${sequence}`);
      owners.set(eventId, `${runId} #${sequence}`);
    }
  }
  return twice;
}

const ENDS = new Set(['run.completed', 'run.failed', 'run.cancelled']);
