import { yieldToLoop } from '../ports/clock.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import { beforeFirstEvent, type FoldedRun, runAfter } from '../runs/after-event.ts';

/**
 * Returns a run as it stood after the event of a sequence, or after its newest event when the log is shorter.
 *
 * @param isOver whether the reader has left; the rest of the log is then not read
 * @param from the run at an earlier place of its log; default: before its first event
 */
export async function runAt(
  store: Pick<Store, 'events'>,
  run: Run,
  sequence: number,
  isOver: () => boolean,
  from: FoldedRun = beforeFirstEvent(run),
): Promise<FoldedRun> {
  let folded = from;
  for (;;) {
    const limit = Math.min(PAGE_EVENTS, sequence - folded.lastSequence);
    if (limit <= 0 || isOver()) return folded;
    const page = { after: folded.lastSequence, limit, maxBytes: PAGE_BYTES };
    const events = await store.events.list(run, page);
    if (events.length === 0) return folded;
    folded = events.reduce((before, event) => runAfter(before, event), folded);
    // Without this a long log would block all other requests of the host.
    await yieldToLoop();
  }
}

const PAGE_EVENTS = 256;
const PAGE_BYTES = 65_536;
