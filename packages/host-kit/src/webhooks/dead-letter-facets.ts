import { yieldToLoop } from '../ports/clock.ts';
import type { CountedDeadLetters, DeadLetterCursor, DeadLetterSelection } from '../ports/deliveries.ts';
import { lowestDeliveryId } from './delivery-id.ts';
import type { LetterFilter, LetterReading } from './redrive-matching.ts';

/** Dead letters by their properties. Each list begins with the largest count, and has at most 100 entries. */
export interface DeadLetterFacets {
  /** The number of dead letters that the filter selects. */
  readonly matching: number;
  /** The number of dead letters that were looked at. */
  readonly lookedAt: number;
  /** False: only the newest dead letters of each subscription were looked at. */
  readonly isComplete: boolean;
  readonly eventTypes: readonly Facet<string>[];
  /** By the last HTTP status. 0: there was no answer. */
  readonly statuses: readonly Facet<number>[];
  /** By the id of the subscription. */
  readonly subscriptions: readonly Facet<string>[];
  /** By step of time, in ms since the epoch: the newest 1440 steps with dead letters, in the order of time. */
  readonly times: readonly Facet<number>[];
}

/** The dead letters with one value of a property. */
export interface Facet<T> {
  readonly value: T;
  readonly count: number;
}

/**
 * Counts the dead letters of subscriptions that a filter selects, by their properties. It looks at 100 000 of them at most,
 * the newest first, and at each subscription in turn: a long list of one subscription does not hide another one.
 *
 * @param stepMs length of a step of `times`, in ms
 */
export async function deadLetterFacets(
  { store: { deliveries }, storeClock }: LetterReading,
  webhookIds: readonly string[],
  filter: LetterFilter,
  stepMs: number,
): Promise<DeadLetterFacets> {
  const selection = selectionOf(filter);
  const tally = new Tally();
  const now = storeClock.now();
  let open: readonly Place[] = webhookIds.map((webhookId) => ({ webhookId, before: undefined }));
  while (open.length > 0 && tally.lookedAt < MOST_COUNTED) {
    const left: Place[] = [];
    for (const { webhookId, before } of open) {
      const limit = Math.min(PAGE, MOST_COUNTED - tally.lookedAt);
      const counted =
        limit > 0 ? await deliveries.countDeadLetters(webhookId, { before, limit, now, selection, stepMs }) : undefined;
      if (counted === undefined) left.push({ webhookId, before });
      else {
        tally.add(webhookId, counted);
        if (counted.last !== undefined) left.push({ webhookId, before: counted.last });
      }
      // A store in this process answers without a pause, so requests would wait for the whole count.
      await yieldToLoop();
    }
    open = left;
  }
  return tally.facets(open.length === 0);
}

interface Place {
  readonly webhookId: string;
  readonly before: DeadLetterCursor | undefined;
}

const PAGE = 2000;
const MOST_COUNTED = 100_000;
const MOST_VALUES = 100;
const MOST_STEPS = 1440;

function selectionOf({ types, statuses, since, until }: LetterFilter): DeadLetterSelection {
  return {
    eventTypes: types,
    statuses,
    fromId: since === undefined ? undefined : lowestDeliveryId(since),
    belowId: until === undefined ? undefined : lowestDeliveryId(until),
  };
}

/** The counts so far. */
class Tally {
  lookedAt = 0;
  #matching = 0;
  readonly #eventTypes = new Map<string, number>();
  readonly #statuses = new Map<number, number>();
  readonly #subscriptions = new Map<string, number>();
  readonly #times = new Map<number, number>();

  add(webhookId: string, { counts, lookedAt }: CountedDeadLetters): void {
    this.lookedAt += lookedAt;
    for (const { eventType, status, at, count } of counts) {
      this.#matching += count;
      increase(this.#eventTypes, eventType, count);
      increase(this.#statuses, status, count);
      increase(this.#subscriptions, webhookId, count);
      increase(this.#times, at, count);
    }
  }

  facets(isComplete: boolean): DeadLetterFacets {
    const times = [...this.#times].sort(([a], [b]) => a - b).slice(-MOST_STEPS);
    return {
      matching: this.#matching,
      lookedAt: this.lookedAt,
      isComplete,
      eventTypes: largest(this.#eventTypes),
      statuses: largest(this.#statuses),
      subscriptions: largest(this.#subscriptions),
      times: times.map(([value, count]) => ({ value, count })),
    };
  }
}

function increase<T>(counts: Map<T, number>, value: T, by: number): void {
  counts.set(value, (counts.get(value) ?? 0) + by);
}

function largest<T extends string | number>(counts: ReadonlyMap<T, number>): readonly Facet<T>[] {
  const sorted = [...counts].sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1));
  return sorted.slice(0, MOST_VALUES).map(([value, count]) => ({ value, count }));
}
