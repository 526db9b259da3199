import { storeUnavailable } from '../../errors.ts';
import type { SourcePlace, SourceReading } from '../../ports/source-places.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreClock } from '../../ports/store-clock.ts';
import type { Transaction } from '../../ports/transaction.ts';

/** The place of a trigger whose source this host reads. No other host writes it. */
export interface HeldPlace {
  /** The place after the last durable message. Empty: none was read. */
  readonly cursor: string;
  readonly reading: SourceReading;
  /**
   * Stores the cursor in the transaction of the message before it, and that the reading goes well. `moved` must be called after the
   * commit.
   *
   * @throws {HostError} `service_unavailable` when another host has claimed the place: the transaction must be undone
   */
  move(cursor: string, transaction: Transaction): Promise<void>;
  /** Tells that the transaction of a `move` was committed. */
  moved(cursor: string): void;
  /**
   * Stores the state of the reading, and a cursor that belongs to no message of its own.
   *
   * @throws {HostError} as `move`
   */
  report(change: Partial<Omit<SourceReading, 'changedAt'>>, cursor?: string): Promise<void>;
}

export function heldPlace(
  {
    store,
    storeClock,
  }: { readonly store: Pick<Store, 'triggers' | 'transaction'>; readonly storeClock: Pick<StoreClock, 'now'> },
  claimed: SourcePlace,
): HeldPlace {
  const { triggerId, reader } = claimed;
  let { cursor = '', reading } = claimed;

  return {
    get cursor() {
      return cursor;
    },
    get reading() {
      return reading;
    },
    move: (next, transaction) => save(next, wellFrom(storeClock.now()), transaction),
    moved(next) {
      cursor = next;
      reading = wellFrom(storeClock.now());
    },
    async report({ problem, ...change }, next = cursor) {
      const { problem: _, ...kept } = { ...reading, ...change };
      const told = { ...kept, changedAt: storeClock.now(), ...(problem !== undefined && { problem }) };
      await store.transaction((transaction) => save(next, told, transaction));
      cursor = next;
      reading = told;
    },
  };

  /** The time of the change stays while nothing changes. */
  function wellFrom(now: number): SourceReading {
    const isWell = reading.state === 'reading' && reading.failures === 0;
    return { state: 'reading', changedAt: isWell ? reading.changedAt : now, failures: 0 };
  }

  async function save(next: string, told: SourceReading, transaction: Transaction): Promise<void> {
    const place = { triggerId, reader, ...(next !== '' && { cursor: next }), reading: told };
    if (!(await store.triggers.savePlace(place, transaction))) throw storeUnavailable();
  }
}
