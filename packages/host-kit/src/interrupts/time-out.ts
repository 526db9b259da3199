import type { RunOperationOptions } from '../runs/operation.ts';
import { timeOut } from './resolve.ts';

/** One round: answers whatever nobody has answered in time. */
export function timeOutDue(options: RunOperationOptions): (signal: AbortSignal) => Promise<void> {
  const { store, clock } = options;
  return async (signal) => {
    for (;;) {
      const due = await store.interrupts.due(clock.now(), PAGE);
      for (const interrupt of due) {
        if (signal.aborted) return;
        await timeOut(options, interrupt);
      }
      if (due.length < PAGE) return;
    }
  };
}

const PAGE = 100;
