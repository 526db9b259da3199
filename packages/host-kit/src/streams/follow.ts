import type { RunEvent } from '../ports/events.ts';
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
  /** Call it for every event that this process appends, after its commit. */
  appended(event: Pick<RunEvent, 'runId' | 'sequence'>): void;
}

export interface Following {
  /** The highest sequence that is known. */
  newest(): number;
  end(): void;
}

export interface FollowersOptions extends Pick<HostPorts, 'clock' | 'log'> {
  readonly store: Pick<Store, 'runs' | 'shared'>;
}

/**
 * Learns of the events of this process at once. Events that other hosts append to a shared store are found by one query
 * every 250 ms for all followed runs together, as long as there are any. (A notification by the database would
 * serialize the commits of all appends.)
 */
export function followers({ store, clock, log }: FollowersOptions): Followers {
  const followed = new Map<string, Followed>();
  let isAsking = false;

  return {
    follow(runId, newest, grown) {
      const entry = followed.get(runId) ?? { newest, readers: new Set(), notifiedAt: 0, isPlanned: false };
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
    appended: ({ runId, sequence }) => noticed(runId, sequence),
  };

  function noticed(runId: string, sequence: number): void {
    const entry = followed.get(runId);
    if (entry === undefined || sequence <= entry.newest) return;
    entry.newest = sequence;
    if (entry.isPlanned) return;
    entry.isPlanned = true;
    const now = clock.now();
    const due = entry.notifiedAt + NOTIFY_EVERY_MS;
    // One call covers all events that are appended in this turn of the event loop.
    if (now >= due) setImmediate(() => notify(entry));
    else clock.at(due, () => notify(entry));
  }

  function notify(entry: Followed): void {
    entry.isPlanned = false;
    entry.notifiedAt = clock.now();
    for (const grown of entry.readers) grown();
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
  /** The callbacks of the readers. */
  readonly readers: Set<() => void>;
  /** When they were last called, in ms since the epoch; 0 for never. */
  notifiedAt: number;
  /** A call is planned. */
  isPlanned: boolean;
}

/** For 200 readers each call is 200 writes, so events that follow each other closely share one. */
const NOTIFY_EVERY_MS = 10;

const ASK_EVERY_MS = 250;
const RETRY_AFTER_MS = 2000;
