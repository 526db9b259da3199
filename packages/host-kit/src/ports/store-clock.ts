import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { Store } from './store.ts';

/**
 * The clock by which deliveries are due and leases end. All hosts of a store share it, so they agree on these times even
 * if their own clocks differ.
 *
 * A store with a clock of its own (`Store.time`) is asked every 5 s, and its time is carried on by the monotonic clock
 * of the host meanwhile. Otherwise one process uses the store: then it is the time of the day at the start of the
 * process, carried on by the monotonic clock. A clock of the machine that is set moves neither.
 */
export interface StoreClock {
  /** Returns the time of the store as last read, in whole ms since the epoch. Before `read` it is that of the host. */
  now(): number;
  /**
   * Returns the time of the store, in whole ms since the epoch. It is asked when the last answer is older than 5 s.
   *
   * @throws {Error} when the store fails
   */
  read(): Promise<number>;
  /**
   * Returns by how many ms the clock of the host is ahead of that of the store, negative when it is behind. Undefined
   * for a store without a clock, and before the first `read`.
   */
  aheadMs(): number | undefined;
}

export interface StoreClockOptions {
  readonly clock: Clock;
  readonly store: Pick<Store, 'time'>;
  /** Is told when the clock of the host begins to differ from that of the store, and when it no longer does. */
  readonly log: Log;
}

export function storeClock({ clock, store, log }: StoreClockOptions): StoreClock {
  /** Time of the store when the monotonic clock is 0. */
  let origin = clock.now() - clock.monotonic();
  /** By so much the origin may be wrong, in ms, when it was read last. */
  let within = 0;
  /** When the store was asked last, in ms of the monotonic clock. */
  let readAt: number | undefined;
  let reading: Promise<void> | undefined;
  let latest = Number.NEGATIVE_INFINITY;
  const tell = skewReport(log);

  return {
    now,
    aheadMs: () => (readAt === undefined ? undefined : aheadMs()),
    async read() {
      const { time } = store;
      if (time !== undefined && (readAt === undefined || clock.monotonic() - readAt >= READ_EVERY_MS)) {
        reading ??= ask(time).finally(() => {
          reading = undefined;
        });
        await reading;
      }
      return now();
    },
  };

  /** Never goes back by the inaccuracy of two readings: a claim is named by its time. */
  function now(): number {
    latest = Math.max(latest, Math.floor(origin + clock.monotonic()));
    return latest;
  }

  function aheadMs(): number {
    return clock.now() - (origin + clock.monotonic());
  }

  async function ask(time: NonNullable<Store['time']>): Promise<void> {
    const began = clock.monotonic();
    const answer = await time();
    const ended = clock.monotonic();
    const read = answer - (began + ended) / 2;
    // The answer was true at some time between the two, however long it took.
    const readWithin = (ended - began) / 2;
    const knownWithin = readAt === undefined ? Number.POSITIVE_INFINITY : within + (ended - readAt) * DRIFT;
    const wasSet = readAt === undefined || Math.abs(read - origin) > readWithin + knownWithin + MARGIN_MS;
    const isBetter = wasSet || readWithin <= knownWithin;
    if (wasSet) latest = Number.NEGATIVE_INFINITY;
    if (isBetter) origin = read;
    within = isBetter ? readWithin : knownWithin;
    readAt = ended;
    tell(aheadMs(), within);
  }
}

/** Logs once when the clocks differ, and once when they agree again. */
function skewReport(log: Log): (aheadMs: number, inaccuracyMs: number) => void {
  let isTold = false;
  return (aheadMs, inaccuracyMs) => {
    const differs = Math.abs(aheadMs) - inaccuracyMs > (isTold ? AGREED_MS : TOLD_MS);
    if (differs === isTold) return;
    isTold = differs;
    const message = differs ? DIFFERS : AGREES;
    log({ level: differs ? 'warn' : 'info', event: EVENTS[`${differs}`], aheadMs: Math.round(aheadMs), message });
  };
}

const READ_EVERY_MS = 5000;
/** How far two clocks drift apart: 0.5 ms in a second. The clocks of machines drift by less. */
const DRIFT = 0.0005;
/** A clock that is set by less looks like an inaccuracy. */
const MARGIN_MS = 1000;
/** The difference from which on it is told, and below which it has ended. */
const TOLD_MS = 2000;
const AGREED_MS = 1000;
const EVENTS = { true: 'clock.differs', false: 'clock.agrees' } as const;
const DIFFERS =
  'The clock of this host differs from that of its database. Deliveries and leases go by that of the database; ' +
  'signatures, tokens and timestamps by that of this host, and are refused by others. Synchronize both (NTP).';
const AGREES = 'The clock of this host agrees with that of its database again.';
