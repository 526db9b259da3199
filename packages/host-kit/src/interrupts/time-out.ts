import type { DueCursor } from '../ports/interrupts.ts';
import type { RunServices } from '../runs/change-run.ts';
import { timeOut } from './resolve.ts';

/**
 * Returns a periodic task that resolves the questions whose timeout has passed. A question that fails does not stop the
 * others; the task rejects after the last one.
 *
 * The questions of a run that is paused, or goes on at another node, stay due. They hide no later one: each page begins
 * after the last question of the former page. A round tries up to 1000 questions, and the next round begins after them.
 */
export function timeOutDue(options: RunServices): (signal: AbortSignal) => Promise<void> {
  const { store, clock } = options;
  let after: DueCursor | undefined;
  return async (signal) => {
    const failures: unknown[] = [];
    for (let tried = 0; tried < MOST_PER_ROUND; tried += PAGE) {
      const due = await store.interrupts.due(clock.now(), PAGE, after);
      for (const interrupt of due) {
        if (signal.aborted) return;
        await timeOut(options, interrupt).catch((error: unknown) => failures.push(error));
      }
      const last = due.length < PAGE ? undefined : due.at(-1);
      after = last && { dueAt: last.dueAt ?? 0, runId: last.runId, interruptId: last.interruptId };
      if (after === undefined) break;
    }
    if (failures.length > 0) throw failures[0];
  };
}

const PAGE = 100;
/** Bounds the cost of questions that stay due. */
const MOST_PER_ROUND = 1000;
