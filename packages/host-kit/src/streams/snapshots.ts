import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { FoldedRun } from '../runs/after-event.ts';
import { runAt } from './fold.ts';

/** Runs with their values. */
export interface Snapshots {
  /**
   * Returns a run with its values after its newest event. Reads the events that were appended since the run was last
   * read through this host. Readers of the same run at the same time share the work.
   */
  read(run: Run): Promise<FoldedRun>;
}

/** @param most the number of runs whose values are cached; the one that was unused for the longest time is evicted */
export function snapshots(store: Pick<Store, 'events'>, most: number): Snapshots {
  /** The folded runs by id, in the order of their last use. */
  const kept = new Map<string, FoldedRun>();
  /** The reads under way, by run and sequence. */
  const reading = new Map<string, Promise<FoldedRun>>();

  return {
    async read(run) {
      const name = `${run.runId} ${run.lastSequence}`;
      const read = reading.get(name) ?? fold(run).finally(() => reading.delete(name));
      reading.set(name, read);
      // The run as the caller read it: its status may have changed without an event.
      return { ...run, values: (await read).values };
    },
  };

  async function fold(run: Run): Promise<FoldedRun> {
    const { runId, lastSequence } = run;
    const known = kept.get(runId);
    const from = known !== undefined && known.lastSequence <= lastSequence ? known : undefined;
    const folded = await runAt(store, run, lastSequence, () => false, from);
    kept.delete(runId);
    kept.set(runId, folded);
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break;
      kept.delete(oldest);
    }
    return folded;
  }
}
