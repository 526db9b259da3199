import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';

/**
 * Reads the log of a run after the sequence `after`, a page of 500 events at a time, so that a long log never fills the
 * memory.
 */
export async function* wholeLog(store: Store, run: Run, after = -1): AsyncGenerator<RunEvent, undefined> {
  for (let last = after; ; ) {
    const page = await store.events.list(run, { after: last, limit: PAGE });
    yield* page;
    last = page.at(-1)?.sequence ?? last;
    if (page.length < PAGE) return;
  }
}

const PAGE = 500;
