import { isTerminal, type Run } from '../ports/runs.ts';
import type { Followers } from './follow.ts';
import type { Page, Pages, View } from './pages.ts';

/** Where a reader is in the log of a run. */
export interface Cursor {
  /** Says how the run stood where the reader begins. Before `next`. */
  start(run: Run): void;
  /** Whether it is worth while to ask for the next page. Never false while there is one that nobody will tell of. */
  hasNews(): boolean;
  /** The next page; undefined when there is none now. */
  next(): Promise<Page | undefined>;
  /** Whether the run has ended and all of its log has been shown, or it cannot be read any more. */
  hasEnded(): boolean;
  close(): void;
}

export interface CursorOptions {
  readonly pages: Pages;
  readonly followers: Followers;
  readonly view: View;
  /** As the caller has just read it. */
  readonly run: Run;
  readonly after: number;
  /** Called when there may be news. */
  readonly grown: () => void;
  /** The run as it stands now; undefined when it cannot be read any more. */
  readonly current: () => Promise<Run | undefined>;
}

export function cursor({ pages, followers, view, run: known, after: from, grown, current }: CursorOptions): Cursor {
  let after = from;
  let run = known;
  let ended = false;
  /** Once the end was seen by someone who would be told of growth, nothing can be missed. */
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
    // It has grown meanwhile.
    if (now !== undefined && now.lastSequence > after) mustLook = true;
    else ended = now === undefined || isTerminal(now.status);
  }
}
