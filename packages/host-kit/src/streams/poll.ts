import type { Clock } from '../ports/clock.ts';
import type { RunEvent } from '../ports/events.ts';
import { isTerminal, type Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { Followers, Following } from './follow.ts';
import type { ReaderLimiter } from './reader-limits.ts';
import { ReaderWait } from './reader-wait.ts';

export interface PollParts {
  readonly store: Pick<Store, 'events'>;
  readonly followers: Followers;
  readonly readerLimiter: ReaderLimiter;
  readonly clock: Clock;
}

export interface PollRequest {
  /** As the caller has just read it. */
  readonly run: Run;
  readonly credentialId: string;
  /** True: the caller has no credential of the host. Default: false. */
  readonly isAnonymous?: boolean;
  /** Events with a higher sequence are returned; -1 for all. */
  readonly after: number;
  /** The longest wait, in ms. 0 or less: the answer is given at once. */
  readonly waitMs: number;
  /** Aborts when the caller has disconnected. Called only if the poll waits. */
  readonly gone: () => AbortSignal;
  /** Reads the run as it stands now. */
  readonly current: () => Promise<Run>;
}

/** The answer to a poll. */
export interface Polled {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  /** The `after` of the caller's next poll. */
  readonly cursor: number;
  /** Whether the run has ended and its log has no events after these. */
  readonly isComplete: boolean;
}

/**
 * Returns the next events of a run: at once when there are any or the run has ended, otherwise as soon as one is
 * appended. Returns none when the time is up, the caller has disconnected or the host stops.
 *
 * @throws {AuthError} `rate_limited` when the poll has to wait and a limit of readers is reached
 * @throws {HostError} `service_unavailable` when the poll has to wait and the host is stopping
 */
export async function poll(parts: PollParts, request: PollRequest): Promise<Polled> {
  const polling = new Polling(parts, request);
  try {
    return await polling.result();
  } finally {
    polling.close();
  }
}

class Polling {
  readonly #parts: PollParts;
  readonly #request: PollRequest;
  readonly #wait: ReaderWait;
  readonly #following: Following;
  /** As last read. */
  #run: Run;

  constructor(parts: PollParts, request: PollRequest) {
    const { run, credentialId, isAnonymous = false } = request;
    this.#parts = parts;
    this.#request = request;
    this.#run = run;
    this.#wait = new ReaderWait({
      ...parts,
      ...request,
      reader: { runId: run.runId, credentialId, tenant: run.tenant, isAnonymous },
    });
    this.#following = parts.followers.follow(run.runId, run.lastSequence, this.#wait.notice);
  }

  async result(): Promise<Polled> {
    for (;;) {
      this.#wait.look();
      const found = await this.#look();
      if (found.events.length > 0 || isTerminal(found.run.status) || this.#wait.isTimeUp()) return found;
      // An event that was appended before the wait was prepared is found by one more look.
      if (this.#wait.hasPlace()) await this.#wait.news();
      else this.#wait.takePlace();
    }
  }

  close(): void {
    this.#following.end();
    this.#wait.close();
  }

  async #look(): Promise<Polled> {
    const { after, current } = this.#request;
    const page = { after, limit: MOST_EVENTS, maxBytes: MOST_BYTES };
    const events = await this.#parts.store.events.list(this.#run, page);
    const cursor = events.at(-1)?.sequence ?? after;
    // Read after the events, so that it is no older than they are: the answer must not have the run's last event and
    // call it running.
    const isStale = this.#wait.hasNews() || this.#wait.hasPlace() || cursor > this.#run.lastSequence;
    if (isStale) this.#run = await current();
    const run = this.#run;
    return { run, events, cursor, isComplete: isTerminal(run.status) && cursor >= run.lastSequence };
  }
}

/** Limits of one answer. The caller polls again after the last event. */
const MOST_EVENTS = 1000;
const MOST_BYTES = 1_048_576;
