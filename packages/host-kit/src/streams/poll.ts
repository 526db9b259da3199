import type { Clock } from '../ports/clock.ts';
import type { RunEvent } from '../ports/events.ts';
import { isTerminal, type Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import type { Followers } from './follow.ts';
import type { ReaderLimiter } from './reader-limits.ts';
import { newTimer } from './timer.ts';

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
  /** Events with a higher sequence are asked for; -1 for all. */
  readonly after: number;
  /** When to answer at the latest, in ms since the epoch. */
  readonly until: number;
  /** Aborted when the caller has gone. */
  readonly gone: () => AbortSignal;
  /** The run as it stands now. */
  readonly current: () => Promise<Run>;
}

/** What a poll found. */
export interface Polled {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  /** Where the next poll goes on. */
  readonly cursor: number;
  /** Whether the run has ended, and nothing of its log comes after these events. */
  readonly isComplete: boolean;
}

/**
 * The next events of a run: at once when there are any or the run has ended, else as soon as there are, or none when the time is up,
 * the caller has gone or the host stops.
 *
 * @throws {AuthError} `rate_limited` when it would have to wait and there is no place for that
 * @throws {HostError} `service_unavailable` when it would have to wait and the host is stopping
 */
export async function poll(parts: PollParts, request: PollRequest): Promise<Polled> {
  const { store, followers, readerLimiter, clock } = parts;
  const { credentialId, after, until } = request;
  let run = request.run;
  let hasGrown = false;
  let isOver = false;
  let goOn = (): void => {};
  let giveBack: (() => void) | undefined;
  const giveUp = () => {
    isOver = true;
    goOn();
  };
  const timer = newTimer(clock, giveUp);
  const following = followers.follow(run.runId, run.lastSequence, () => {
    hasGrown = true;
    goOn();
  });
  let stopListening = (): void => {};

  try {
    for (;;) {
      hasGrown = false;
      const found = await look();
      if (found.events.length > 0 || isTerminal(run.status) || isOver || clock.now() >= until) return found;
      // What came before anybody was told of growth is found by one more look.
      if (giveBack === undefined) prepareToWait();
      else if (!hasGrown && !isOver) await news();
    }
  } finally {
    following.end();
    timer.cancel();
    stopListening();
    giveBack?.();
  }

  async function look(): Promise<Polled> {
    const events = await store.events.list(run, { after, limit: MOST_EVENTS, maxBytes: MOST_BYTES });
    const cursor = events.at(-1)?.sequence ?? after;
    // Read after the events, so that it is no older than they are.
    if (hasGrown || giveBack !== undefined || cursor > run.lastSequence) run = await request.current();
    return { run, events, cursor, isComplete: isTerminal(run.status) && cursor >= run.lastSequence };
  }

  function prepareToWait(): void {
    giveBack = readerLimiter.take({ runId: run.runId, credentialId }, giveUp);
    const gone = request.gone();
    if (gone.aborted) isOver = true;
    gone.addEventListener('abort', giveUp);
    stopListening = () => gone.removeEventListener('abort', giveUp);
    timer.ringBy(until);
  }

  function news(): Promise<void> {
    return new Promise((resolve) => {
      goOn = resolve;
    });
  }
}

/** Of one answer; the caller goes on from the last. */
const MOST_EVENTS = 1000;
const MOST_BYTES = 1_048_576;
