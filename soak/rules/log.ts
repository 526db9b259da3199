import type { Disturbance, KnownRun, LoggedEvent } from '../evidence.ts';
import { WORKFLOWS } from '../plan.ts';
import type { Rule } from './case.ts';

/**
 * Every run, acknowledged or not, came to its end, and its log is what its workflow says: without gaps, nothing twice, and one end. Only
 * the start of a node comes again, with the next number, after something was done to the host that worked on it.
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
    ...(ends.length === 1 && ends[0] === events.at(-1) ? [] : [`has ${ends.length} ends, or something after its end`]),
    ...(gap === -1 ? [] : [`has #${events[gap]?.sequence} where #${gap} should be`]),
    ...(isExplained ? [] : ['started a node again, and nothing had been done to its host']),
    ...(isWhole ? [] : [`is ${status} after ${events.map(({ type }) => type).join(', ')}`]),
  ].map((fault) => `${runId} (${workflow}) ${fault}`);
}

/** Whether something had been done between the event before this one and this one, or a moment before. */
function isAfterOne(
  { sequence, at }: LoggedEvent,
  events: readonly LoggedEvent[],
  losing: readonly Disturbance[],
): boolean {
  const before = events[sequence - 1]?.at ?? 0;
  return losing.some(({ from, until }) => from <= at && until >= before - MOMENT_MS);
}

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
