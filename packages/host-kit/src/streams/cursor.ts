import { isTerminal, type Run } from '../ports/runs.ts';
import { beforeFirstEvent, type FoldedRun } from '../runs/after-event.ts';
import type { Followers } from './follow.ts';
import type { Page, Pages, View } from './pages.ts';

/** The position of a reader in the log of a run, or among the events of all runs. */
export interface Cursor {
  /**
   * Prepares the position, and returns the bytes that a stream begins with; empty for none. Call it before `next`.
   *
   * @param isOver tells whether the stream has ended meanwhile
   */
  start(isOver: () => boolean): Promise<Uint8Array>;
  /** Whether `next` may find a page. When it returns false, `grown` is called for the next event. */
  hasNews(): boolean;
  /** Reads the next page; undefined when there is none at present. */
  next(): Promise<StreamPage | undefined>;
  /** Whether no page will follow: the run has ended and its whole log was read, or it cannot be read any more. */
  hasEnded(): boolean;
  close(): void;
}

/** The part of a page that a stream sends. */
export type StreamPage = Pick<Page, 'bytes' | 'shown' | 'isUrgent'>;

/** The start of the stream of a run. */
export interface Beginning {
  /** The run as it stood at the cursor, as far as the view needs it. */
  readonly run: FoldedRun;
  /** The piece that shows this run; empty for none. */
  readonly bytes: Uint8Array;
}

export interface CursorOptions {
  readonly pages: Pages;
  readonly followers: Followers;
  readonly view: View;
  /** As the caller has just read it. */
  readonly run: Run;
  /** The reader begins after this sequence; -1 for all events. */
  readonly after: number;
  /** Called once, before the first event is read. `isOver` tells whether the stream has ended meanwhile. */
  readonly begin: (isOver: () => boolean) => Promise<Beginning>;
  /** Called when the log has grown. */
  readonly grown: () => void;
  /** Reads the run as it stands now; undefined when it cannot be read any more. */
  readonly current: () => Promise<Run | undefined>;
}

/** Makes a cursor in the log of one run. */
export function cursor(options: CursorOptions): Cursor {
  const { pages, followers, view, run: known, begin, grown, current } = options;
  let { after } = options;
  let run = beforeFirstEvent(known);
  let ended = false;
  /** The end of the log was reached while growth is reported, so no event can be missed. */
  let isCaughtUp = false;
  let mustLook = false;
  const following = followers.follow(known.runId, known.lastSequence, () => {
    mustLook = true;
    grown();
  });

  return {
    async start(isOver) {
      const begun = await begin(isOver);
      run = begun.run;
      return begun.bytes;
    },
    hasNews: () => mustLook || !isCaughtUp || following.newest() > after,
    async next() {
      mustLook = false;
      const page = await pages.read(run, view, after);
      if (page === undefined) {
        await lookForEnd();
        return undefined;
      }
      after = page.last;
      run = page.run;
      ended = page.ends;
      return page;
    },
    hasEnded: () => ended,
    close: () => following.end(),
  };

  async function lookForEnd(): Promise<void> {
    const now = await current();
    isCaughtUp = true;
    // An event was appended between the two reads.
    if (now !== undefined && now.lastSequence > after) mustLook = true;
    else ended = now === undefined || isTerminal(now.status);
  }
}
