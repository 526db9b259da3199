import type { RunEvent } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import type { FoldedRun } from '../runs/after-event.ts';
import { isTerminalEvent } from '../runs/transitions.ts';

/** Renders a log for a kind of reader. */
export interface View {
  /** Readers of one run whose views have the same name share rendered pages. */
  readonly name: string;
  /** The most events of a page, a divisor of 256. Fewer where each is shown at length. */
  readonly pageEvents: number;
  /** Renders events; `run` is the run as it stood before the first of them. */
  render(run: FoldedRun, events: readonly RunEvent[]): Rendered;
}

export interface Rendered {
  /** Empty when the view shows none of the events. */
  readonly bytes: Uint8Array;
  /** The sequence of the last event that is shown; undefined when none is. */
  readonly shown: number | undefined;
  /** The run as it stands after them. */
  readonly run: FoldedRun;
}

/** A rendered part of a log. */
export interface Page extends Rendered {
  /** The sequence of its last event. */
  readonly last: number;
  /** Whether it must be sent at once, even to a reader that asked for batches. */
  readonly isUrgent: boolean;
  /** Whether the run ends in this page. */
  readonly ends: boolean;
}

export interface Pages {
  /**
   * Returns the next events after a sequence, rendered; undefined when there are none yet. A page is read and rendered
   * once for all readers that ask for it at the same time, and again only after it was evicted.
   *
   * @param run as it stood after the event `after`
   */
  read(run: FoldedRun, view: View, after: number): Promise<Page | undefined>;
}

export interface PagesOptions {
  readonly store: Pick<Store, 'events'>;
  /** Bytes of rendered pages to cache; the page that was unused for the longest time is evicted first. */
  readonly keepBytes: number;
}

export function pages({ store, keepBytes }: PagesOptions): Pages {
  /** The cached pages in the order of their last use. */
  const kept = new Map<string, { readonly page: Promise<Page | undefined>; bytes: number }>();
  let bytes = 0;

  return {
    read(run, view, after) {
      const name = `${run.runId} ${view.name} ${after}`;
      const found = kept.get(name);
      if (found !== undefined) {
        kept.delete(name);
        kept.set(name, found);
        return found.page;
      }
      const page = load(run, view, after);
      const entry = { page, bytes: 0 };
      kept.set(name, entry);
      page.then(
        (loaded) => {
          if (loaded === undefined) return kept.delete(name);
          entry.bytes = loaded.bytes.length + ENTRY_BYTES;
          bytes += entry.bytes;
          makeRoom();
        },
        () => kept.delete(name),
      );
      return page;
    },
  };

  async function load(run: FoldedRun, view: View, after: number): Promise<Page | undefined> {
    // A page ends at a multiple of its size, so that readers with different starts share all pages but the first.
    const limit = view.pageEvents - ((after + 1) % view.pageEvents);
    const events = await store.events.list(run, { after, limit, maxBytes: PAGE_BYTES });
    const last = events.at(-1);
    if (last === undefined) return undefined;
    const ends = events.some(({ type }) => isTerminalEvent(type));
    const isUrgent = ends || events.some(({ type }) => type === 'node.suspended');
    return { ...view.render(run, events), last: last.sequence, isUrgent, ends };
  }

  function makeRoom(): void {
    for (const [name, entry] of kept) {
      if (bytes <= keepBytes) return;
      // A page without a size is being loaded, and readers wait for it.
      if (entry.bytes === 0) continue;
      kept.delete(name);
      bytes -= entry.bytes;
    }
  }
}

/** The bytes of payloads after which a page takes no further event. */
const PAGE_BYTES = 65_536;
/** The memory of an entry besides its bytes. It also limits the number of small entries. */
const ENTRY_BYTES = 1024;
