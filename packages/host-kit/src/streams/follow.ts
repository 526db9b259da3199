import type { Clock } from '../ports/clock.ts';
import type { RunEvent } from '../ports/events.ts';
import { describeError, type Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

/** Tells the readers of runs that a log has grown. */
export interface Followers {
  /**
   * Calls `grown` when the log of the run has grown: at once, or within 10 ms of the last time, for all that was appended meanwhile.
   *
   * @param newest the sequence up to which the caller knows the log
   */
  follow(runId: string, newest: number, grown: () => void): Following;
  /** To be told of every event that this process appends. */
  appended(event: Pick<RunEvent, 'runId' | 'sequence'>): void;
}

export interface Following {
  /** The highest sequence that is known of. */
  newest(): number;
  end(): void;
}

export interface FollowersOptions {
  readonly store: Pick<Store, 'runs' | 'shared'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * What this process appends it hears of at once. What other hosts append to a shared store it asks for, a few times a second and in
 * one query for all runs that are followed, as long as there are any. (A notification by the database would put the commits of
 * every append in a row.)
 */
export function followers({ store, clock, log }: FollowersOptions): Followers {
  const followed = new Map<string, Followed>();
  let isAsking = false;

  return {
    follow(runId, newest, tell) {
      const entry = followed.get(runId) ?? { newest, tells: new Set(), toldAt: 0, isToBeTold: false };
      entry.newest = Math.max(entry.newest, newest);
      entry.tells.add(tell);
      followed.set(runId, entry);
      if (store.shared === true && !isAsking) askSoon(ASK_EVERY_MS);
      return {
        newest: () => entry.newest,
        end() {
          entry.tells.delete(tell);
          if (entry.tells.size === 0 && followed.get(runId) === entry) followed.delete(runId);
        },
      };
    },
    appended: ({ runId, sequence }) => noticed(runId, sequence),
  };

  function noticed(runId: string, sequence: number): void {
    const entry = followed.get(runId);
    if (entry === undefined || sequence <= entry.newest) return;
    entry.newest = sequence;
    if (entry.isToBeTold) return;
    entry.isToBeTold = true;
    const now = clock.now();
    const due = entry.toldAt + TELL_EVERY_MS;
    // Whatever else this turn of the event loop appends is told of together with it.
    if (now >= due) setImmediate(() => tell(entry));
    else clock.at(due, () => tell(entry));
  }

  function tell(entry: Followed): void {
    entry.isToBeTold = false;
    entry.toldAt = clock.now();
    for (const each of entry.tells) each();
  }

  function askSoon(afterMs: number): void {
    isAsking = true;
    clock.at(clock.now() + afterMs, () => void ask());
  }

  async function ask(): Promise<void> {
    let again = ASK_EVERY_MS;
    try {
      const newest = followed.size === 0 ? [] : await store.runs.lastSequences([...followed.keys()]);
      for (const [runId, sequence] of newest) noticed(runId, sequence);
    } catch (error) {
      log({ level: 'error', event: 'stream.store-failed', ...describeError(error) });
      again = RETRY_AFTER_MS;
    }
    isAsking = false;
    if (followed.size > 0) askSoon(again);
  }
}

interface Followed {
  newest: number;
  readonly tells: Set<() => void>;
  toldAt: number;
  isToBeTold: boolean;
}

/** Two hundred readers are two hundred writes for each time, so what comes thick and fast comes together. */
const TELL_EVERY_MS = 10;

const ASK_EVERY_MS = 250;
const RETRY_AFTER_MS = 2000;
