import type { RunServices } from '../runs/change-run.ts';
import { timeOut } from './resolve.ts';

/**
 * Returns a periodic task that resolves all questions whose timeout has passed. A question that fails does not stop the
 * others; the task rejects after the last one.
 */
export function timeOutDue(options: RunServices): (signal: AbortSignal) => Promise<void> {
  const { store, clock } = options;
  return async (signal) => {
    const failures: unknown[] = [];
    for (let left = true; left; ) {
      const due = await store.interrupts.due(clock.now(), PAGE);
      for (const interrupt of due) {
        if (signal.aborted) return;
        await timeOut(options, interrupt).catch((error: unknown) => failures.push(error));
      }
      left = due.length === PAGE && failures.length === 0;
    }
    if (failures.length > 0) throw failures[0];
  };
}

const PAGE = 100;
