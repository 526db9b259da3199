import type { JsonObject } from '../json.ts';
import type { DeadLetter, DeadLetterCursor } from '../ports/deliveries.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { WebhookJob } from '../ports/webhook-jobs.ts';
import { eventTimeOf } from './delivery-id.ts';
import type { JobStep } from './job-step.ts';

/** Selects dead letters. A member that is absent selects all of them. */
export interface LetterFilter {
  /** Names of events in the major of the subscription. */
  readonly types?: readonly string[] | undefined;
  /** Times of the events, in ms since the epoch. `until` is excluded. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** The last HTTP status. 0: there was no answer. */
  readonly statuses?: readonly number[] | undefined;
}

/** The store that has dead letters, and the clock by which they expire. */
export interface LetterReading {
  readonly store: Pick<Store, 'deliveries'>;
  readonly storeClock: Pick<StoreClock, 'now'>;
}

/**
 * Looks at the next dead letters of a job, the newest first. Those that have failed since the job was asked for are passed
 * over: it would otherwise meet them without end.
 */
export async function redriveStep(
  { store, storeClock }: { readonly store: Store; readonly storeClock: Pick<StoreClock, 'now'> },
  job: WebhookJob,
  limit: number,
): Promise<JobStep> {
  const { webhookId } = job;
  const now = storeClock.now();
  const isOfJob = ({ deadLetteredAt }: DeadLetterCursor) => deadLetteredAt <= job.createdAt || deadLetteredAt > now;
  const letters = await store.deliveries.deadLetters(webhookId, { before: cursorOf(job.place), limit, now });
  const own = letters.filter(isOfJob);
  const filter = filterOf(job.request);
  const deliveryIds = own.filter((letter) => isSelected(letter, filter)).map(({ deliveryId }) => deliveryId);
  const end = letters.at(-1) ?? justAfter(job.createdAt);
  const last = isOfJob(end) ? end : justAfter(job.createdAt);
  return {
    lookedAt: own.length,
    place: { deadLetteredAt: last.deadLetteredAt, deliveryId: last.deliveryId },
    isLast: letters.length < limit,
    async queue(transaction) {
      if (deliveryIds.length === 0) return 0;
      const request = { webhookId, deliveryIds, before: job.createdAt, now, limit: deliveryIds.length };
      return store.deliveries.redrive(request, transaction);
    },
  };
}

/** Counts the dead letters that a filter selects, among the newest 100 000. */
export async function countMatching(
  { store, storeClock }: LetterReading,
  webhookId: string,
  filter: LetterFilter,
): Promise<{ readonly matching: number; readonly lookedAt: number; readonly isComplete: boolean }> {
  let matching = 0;
  let lookedAt = 0;
  let before: DeadLetterCursor | undefined;
  const now = storeClock.now();
  while (lookedAt < MOST_COUNTED) {
    const letters = await store.deliveries.deadLetters(webhookId, { before, limit: PAGE, now });
    matching += letters.filter((letter) => isSelected(letter, filter)).length;
    lookedAt += letters.length;
    before = letters.at(-1);
    if (letters.length < PAGE) return { matching, lookedAt, isComplete: true };
  }
  return { matching, lookedAt, isComplete: false };
}

const PAGE = 500;
const MOST_COUNTED = 100_000;

/** The filter as a job stores it. */
export function storedFilter({ types, since, until, statuses }: LetterFilter): JsonObject {
  return {
    ...(types !== undefined && { types: [...types] }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(statuses !== undefined && { statuses: [...statuses] }),
  };
}

function filterOf({ types, since, until, statuses }: JsonObject): LetterFilter {
  return {
    ...(Array.isArray(types) && { types: types.map(String) }),
    ...(typeof since === 'number' && { since }),
    ...(typeof until === 'number' && { until }),
    ...(Array.isArray(statuses) && { statuses: statuses.map(Number) }),
  };
}

function isSelected(
  { eventType, deliveryId, lastStatus = 0 }: DeadLetter,
  { types, since, until, statuses }: LetterFilter,
): boolean {
  if (types !== undefined && !types.includes(eventType)) return false;
  if (statuses !== undefined && !statuses.includes(lastStatus)) return false;
  if (since === undefined && until === undefined) return true;
  const time = eventTimeOf(deliveryId);
  return time !== undefined && time >= (since ?? 0) && time < (until ?? Number.POSITIVE_INFINITY);
}

/** Returns the cursor by which a job leaves out the dead letters that are newer than it. */
export function justAfter(time: number): DeadLetterCursor {
  return { deadLetteredAt: time, deliveryId: '~' };
}

function cursorOf(place: WebhookJob['place']): DeadLetterCursor | undefined {
  const { deadLetteredAt, deliveryId } = place ?? {};
  if (typeof deadLetteredAt !== 'number' || typeof deliveryId !== 'string') return undefined;
  return { deadLetteredAt, deliveryId };
}
