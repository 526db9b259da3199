import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';

/** A run's log from `after` on, a page at a time, so that a long one need not be in memory. */
export async function* wholeLog(store: Store, run: Run, after = -1): AsyncGenerator<RunEvent, undefined> {
  for (let last = after; ; ) {
    const page = await store.events.list(run, { after: last, limit: PAGE });
    yield* page;
    last = page.at(-1)?.sequence ?? last;
    if (page.length < PAGE) return;
  }
}

const PAGE = 500;
