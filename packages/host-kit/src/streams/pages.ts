import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import { isTerminalEvent } from '../runs/transitions.ts';

/** How a log becomes what a reader is sent. */
export interface View {
  /** Readers of one run whose views have the same name share what was rendered. */
  readonly name: string;
  /** Renders events that come right after `run` as it stood before them. */
  render(run: Run, events: readonly RunEvent[]): Rendered;
}

export interface Rendered {
  /** Empty when the view shows none of the events. */
  readonly bytes: Uint8Array;
  /** The sequence of the last event that it shows. */
  readonly shown: number | undefined;
  /** The run as it stands after them. */
  readonly run: Run;
}

/** A piece of a log, rendered. */
export interface Page extends Rendered {
  /** The sequence of its last event. */
  readonly last: number;
  /** Whether something in it is told at once, even to a reader who asked for batches. */
  readonly isUrgent: boolean;
  /** Whether the run ends in it. */
  readonly ends: boolean;
}

export interface Pages {
  /**
   * The next events after a sequence, rendered; undefined when there are none yet. However many readers ask for it, it is read and
   * rendered once while they do, and for as long as there is room to keep it.
   *
   * @param run as it stood at `after`
   */
  read(run: Run, view: View, after: number): Promise<Page | undefined>;
}

export interface PagesOptions {
  readonly store: Pick<Store, 'events'>;
  /** What is kept of rendered pages at the most. */
  readonly keepBytes: number;
}

export function pages({ store, keepBytes }: PagesOptions): Pages {
  /** In the order in which they were last asked for. */
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

  async function load(run: Run, view: View, after: number): Promise<Page | undefined> {
    // Up to the next multiple of a page, so that readers who began anywhere soon share their pages.
    const limit = PAGE_EVENTS - ((after + 1) % PAGE_EVENTS);
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
      // What is being loaded has no size yet, and somebody waits for it.
      if (entry.bytes === 0) continue;
      kept.delete(name);
      bytes -= entry.bytes;
    }
  }
}

/** Events of a page at the most, and bytes of their payloads after which it takes no more. */
const PAGE_EVENTS = 256;
const PAGE_BYTES = 65_536;
/** What an entry takes besides. Also a bound on how many small ones there are. */
const ENTRY_BYTES = 1024;
