import type { RunServices } from '../runs/change-run.ts';
import { timeOut } from './resolve.ts';

/** One round: answers whatever nobody has answered in time. One that cannot be answered holds no other up; the round rejects when all had theirs. */
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
