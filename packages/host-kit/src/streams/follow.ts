import type { EventPosition, RunEvent } from '../ports/events.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

/** Notifies the readers of runs that a log has grown. */
export interface Followers {
  /**
   * Calls `grown` when the log of the run has grown: at once, or 10 ms after the last call, then for all events
   * appended meanwhile.
   *
   * @param newest the sequence up to which the caller knows the log
   */
  follow(runId: string, newest: number, grown: () => void): Following;
  /**
   * Calls `grown` when an event of any run may have become readable, at most every 10 ms. In a shared store that is up
   * to 250 ms later for an event that another host appended, or that was held back by an open transaction.
   */
  followAll(grown: () => void): Pick<Following, 'end'>;
  /** Call it for every event that this process appends, after its commit. */
  appended(event: Pick<RunEvent, 'runId' | 'sequence'>): void;
}

export interface Following {
  /** The highest sequence that is known. */
  newest(): number;
  end(): void;
}

export interface FollowersOptions extends Pick<HostPorts, 'clock' | 'log'> {
  readonly store: Pick<Store, 'runs' | 'events' | 'shared'>;
}

/**
 * Learns of the events of this process at once. Events that other hosts append to a shared store are found by one query
 * every 250 ms for all followed runs together, as long as there are any, and by one for the readers of all runs. (A
 * notification by the database would serialize the commits of all appends.)
 */
export function followers({ store, clock, log }: FollowersOptions): Followers {
  const followed = new Map<string, Followed>();
  const allRuns: Notified = { readers: new Set(), notifiedAt: 0, isPlanned: false };
  /** The newest position that was found for the readers of all runs. */
  let position: EventPosition | undefined;
  let isAsking = false;

  return {
    follow(runId, newest, grown) {
      const entry = followed.get(runId) ?? {
        newest,
        readers: new Set(),
        notifiedAt: Number.NEGATIVE_INFINITY,
        isPlanned: false,
      };
      entry.newest = Math.max(entry.newest, newest);
      entry.readers.add(grown);
      followed.set(runId, entry);
      if (store.shared === true && !isAsking) askSoon(ASK_EVERY_MS);
      return {
        newest: () => entry.newest,
        end() {
          entry.readers.delete(grown);
          if (entry.readers.size === 0 && followed.get(runId) === entry) followed.delete(runId);
        },
      };
    },
    followAll(grown) {
      // A new function for each reader: two that pass the same callback would share one entry of the set.
      const reader = () => grown();
      allRuns.readers.add(reader);
      if (store.shared === true && !isAsking) askSoon(ASK_EVERY_MS);
      return {
        end() {
          allRuns.readers.delete(reader);
        },
      };
    },
    appended({ runId, sequence }) {
      noticed(runId, sequence);
      if (allRuns.readers.size > 0) plan(allRuns);
    },
  };

  function noticed(runId: string, sequence: number): void {
    const entry = followed.get(runId);
    if (entry === undefined || sequence <= entry.newest) return;
    entry.newest = sequence;
    plan(entry);
  }

  function plan(entry: Notified): void {
    if (entry.isPlanned) return;
    entry.isPlanned = true;
    const now = clock.monotonic();
    const due = entry.notifiedAt + NOTIFY_EVERY_MS;
    // One call covers all events that are appended in this turn of the event loop.
    if (now >= due) setImmediate(() => notify(entry));
    else clock.after(due - now, () => notify(entry));
  }

  function notify(entry: Notified): void {
    entry.isPlanned = false;
    entry.notifiedAt = clock.monotonic();
    for (const grown of entry.readers) grown();
  }

  function askSoon(afterMs: number): void {
    isAsking = true;
    clock.after(afterMs, () => void ask());
  }

  async function ask(): Promise<void> {
    let again = ASK_EVERY_MS;
    try {
      const newest = followed.size === 0 ? [] : await store.runs.lastSequences([...followed.keys()]);
      for (const [runId, sequence] of newest) noticed(runId, sequence);
      await askForAllRuns();
    } catch (error) {
      log({ level: 'error', event: 'stream.store-failed', ...describeError(error) });
      again = RETRY_AFTER_MS;
    }
    isAsking = false;
    if (followed.size > 0 || allRuns.readers.size > 0) askSoon(again);
  }

  async function askForAllRuns(): Promise<void> {
    if (allRuns.readers.size === 0) return;
    const newest = await store.events.newest();
    const isKnown = newest.order === position?.order && newest.index === position.index;
    position = newest;
    if (!isKnown) plan(allRuns);
  }
}

interface Followed extends Notified {
  newest: number;
}

interface Notified {
  /** The callbacks of the readers. */
  readonly readers: Set<() => void>;
  /** When they were last called, in ms of the monotonic clock; negative infinity for never. */
  notifiedAt: number;
  /** A call is planned. */
  isPlanned: boolean;
}

/** For 200 readers each call is 200 writes, so events that follow each other closely share one. */
const NOTIFY_EVERY_MS = 10;

const ASK_EVERY_MS = 250;
const RETRY_AFTER_MS = 2000;
