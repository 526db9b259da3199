import { isTerminal, type Run } from '../ports/runs.ts';
import type { Followers } from './follow.ts';
import type { Page, Pages, View } from './pages.ts';

/** The position of a reader in the log of a run. */
export interface Cursor {
  /** Sets the run as it stood at the position where the reader begins. Call it before `next`. */
  start(run: Run): void;
  /** Whether `next` may find a page. When it returns false, `grown` is called for the next event. */
  hasNews(): boolean;
  /** Reads the next page; undefined when there is none at present. */
  next(): Promise<Page | undefined>;
  /** Whether the run has ended and its whole log was read, or the run cannot be read any more. */
  hasEnded(): boolean;
  close(): void;
}

export interface CursorOptions {
  readonly pages: Pages;
  readonly followers: Followers;
  readonly view: View;
  /** As the caller has just read it. */
  readonly run: Run;
  /** The reader begins after this sequence; -1 for all events. */
  readonly after: number;
  /** Called when the log has grown. */
  readonly grown: () => void;
  /** Reads the run as it stands now; undefined when it cannot be read any more. */
  readonly current: () => Promise<Run | undefined>;
}

export function cursor({ pages, followers, view, run: known, after: from, grown, current }: CursorOptions): Cursor {
  let after = from;
  let run = known;
  let ended = false;
  /** The end of the log was reached while growth is reported, so no event can be missed. */
  let isCaughtUp = false;
  let mustLook = false;
  const following = followers.follow(known.runId, known.lastSequence, () => {
    mustLook = true;
    grown();
  });

  return {
    start(begun) {
      run = begun;
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
