import type { AllRunsReader, ReachedEvent } from './all-runs-reader.ts';
import type { Cursor } from './cursor.ts';
import type { Followers } from './follow.ts';

/** The parts of {@link allRunsCursor}. */
export interface AllRunsCursorOptions {
  readonly reader: AllRunsReader;
  readonly followers: Pick<Followers, 'followAll'>;
  readonly render: (events: readonly ReachedEvent[]) => Uint8Array;
  /** Called when there may be new events. */
  readonly grown: () => void;
}

/** Makes a cursor among the events of all runs. It never ends. */
export function allRunsCursor({ reader, followers, render, grown }: AllRunsCursorOptions): Cursor {
  let mustLook = true;
  const following = followers.followAll(() => {
    mustLook = true;
    grown();
  });

  return {
    start: async () => new Uint8Array(),
    hasNews: () => mustLook,
    async next() {
      mustLook = false;
      const events = await reader.read();
      if (events === undefined) return undefined;
      // A page that is not the last one is followed by another.
      mustLook = true;
      return { bytes: render(events), shown: undefined, isUrgent: true };
    },
    hasEnded: () => false,
    close: () => following.end(),
  };
}
