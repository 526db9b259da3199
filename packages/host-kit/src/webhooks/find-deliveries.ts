import { ATTEMPTS_KEPT, type AttemptRecord } from '../ports/attempts.ts';
import type { DeadLetterCursor, QueuedDelivery, WaitingCursor } from '../ports/deliveries.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import { eventTimeOf } from './delivery-id.ts';

/** A delivery that has left the outbox, as its last attempts tell. */
export interface EndedDelivery {
  readonly state: 'delivered' | 'failed' | 'skipped';
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly runId: string;
  readonly sequence: number;
  readonly eventType: string;
  readonly attempts: number;
  readonly lastStatus: number | undefined;
  /** End of the last attempt, in ms since the epoch. */
  readonly endedAt: number;
}

export type FoundDelivery = QueuedDelivery | EndedDelivery;

/** Selects deliveries of a list. Times are those of the events, in ms since the epoch. */
export interface DeliveryFilter {
  readonly state: FoundDelivery['state'] | undefined;
  /** Name of the event in the major of the subscription. */
  readonly type: string | undefined;
  readonly since: number | undefined;
  readonly until: number | undefined;
  /** Returns whether the caller reaches events of this name. Default: every event. */
  readonly isReached?: ((eventType: string) => boolean) | undefined;
}

/** The last delivery of a page. */
export type DeliveryCursor =
  | { readonly section: 'waiting'; readonly after?: WaitingCursor | undefined }
  | { readonly section: 'dead'; readonly after?: DeadLetterCursor | undefined }
  | { readonly section: 'ended'; readonly after?: EndedCursor | undefined };

type EndedCursor = Pick<EndedDelivery, 'endedAt' | 'deliveryId'>;

export interface DeliveryPage {
  readonly deliveries: readonly FoundDelivery[];
  readonly next: DeliveryCursor | undefined;
}

/** The records of deliveries, and the clock by which dead letters expire. */
interface Deliveries {
  readonly store: Pick<Store, 'deliveries' | 'attempts'>;
  readonly storeClock: Pick<StoreClock, 'now'>;
}

/**
 * Lists the deliveries of a subscription: first those that wait, by their due times; then its dead letters, newest
 * first; then those that have left the outbox, as far as the last attempts of the subscription tell.
 *
 * A page looks at a limited number of deliveries. With a rare filter it may be short or empty, and still have a next
 * page.
 */
export async function listDeliveries(
  { store, storeClock }: Deliveries,
  subscription: Subscription,
  filter: DeliveryFilter,
  page: { readonly from: DeliveryCursor | undefined; readonly limit: number },
): Promise<DeliveryPage> {
  const reading = { store, subscription, now: storeClock.now() };
  const sections = SECTIONS.filter((section) => filter.state === undefined || SECTION_OF[filter.state] === section);
  const found: FoundDelivery[] = [];
  let cursor: DeliveryCursor | undefined = page.from ?? (sections[0] && { section: sections[0] });
  for (let looked = 0; cursor !== undefined && looked < MOST_LOOKED_AT; ) {
    const rows: readonly Row[] = await readSection(reading, cursor, READ_AT_ONCE);
    for (const [index, row] of rows.entries()) {
      if (row.delivery !== undefined && isWanted(row.delivery, filter)) found.push(row.delivery);
      if (found.length === page.limit && (index < rows.length - 1 || rows.length === READ_AT_ONCE)) {
        return { deliveries: found, next: row.cursor };
      }
    }
    looked += rows.length;
    const isEnd = rows.length < READ_AT_ONCE;
    cursor = isEnd ? nextSection(sections, cursor) : rows.at(-1)?.cursor;
    if (found.length === page.limit) break;
  }
  return { deliveries: found, next: cursor };
}

/** Finds one delivery of a subscription with its attempts, newest first; undefined when it is no longer known. */
export async function findDelivery(
  { store, storeClock }: Deliveries,
  subscription: Subscription,
  deliveryId: string,
): Promise<{ readonly delivery: FoundDelivery; readonly attempts: readonly AttemptRecord[] } | undefined> {
  const { webhookId } = subscription;
  const [queued] = await store.deliveries.queued(webhookId, [deliveryId], storeClock.now());
  const recent = await store.attempts.list(webhookId, ATTEMPTS_KEPT);
  const attempts = recent.filter((attempt) => attempt.deliveryId === deliveryId);
  const delivery = queued ?? endedOf(attempts, subscription);
  return delivery && { delivery, attempts };
}

const SECTIONS = ['waiting', 'dead', 'ended'] as const;
const SECTION_OF = { waiting: 'waiting', dead: 'dead', delivered: 'ended', failed: 'ended', skipped: 'ended' } as const;
const MOST_LOOKED_AT = 1000;
/** Independent of the page: a page of one delivery with a rare filter would otherwise read a thousand times. */
const READ_AT_ONCE = 200;

/** The reading of one list, all of it at one time. */
interface Reading {
  readonly store: Deliveries['store'];
  readonly subscription: Subscription;
  readonly now: number;
}

/** A delivery, and the cursor of the deliveries after it. */
interface Row {
  readonly delivery: FoundDelivery | undefined;
  readonly cursor: DeliveryCursor;
}

function nextSection(sections: readonly DeliveryCursor['section'][], { section }: DeliveryCursor) {
  const next = sections[sections.indexOf(section) + 1];
  return next && { section: next };
}

async function readSection(reading: Reading, cursor: DeliveryCursor, limit: number): Promise<readonly Row[]> {
  const { store, subscription, now } = reading;
  const { webhookId } = subscription;
  if (cursor.section === 'waiting') {
    const rows = await store.deliveries.waiting(webhookId, { after: cursor.after, limit });
    return rows.map((after) => ({ delivery: after, cursor: { section: 'waiting', after } }));
  }
  if (cursor.section === 'ended') return (await ended(reading, cursor.after)).slice(0, limit);
  const letters = await store.deliveries.deadLetters(webhookId, { before: cursor.after, limit, now });
  const queued = await store.deliveries.queued(
    webhookId,
    letters.map(({ deliveryId }) => deliveryId),
    now,
  );
  const byId = new Map(queued.map((delivery) => [delivery.deliveryId, delivery]));
  // A letter that was redriven meanwhile has no entry any more.
  return letters.map((after) => ({ delivery: byId.get(after.deliveryId), cursor: { section: 'dead', after } }));
}

async function ended({ store, subscription, now }: Reading, after: EndedCursor | undefined): Promise<readonly Row[]> {
  const { webhookId } = subscription;
  const attempts = await store.attempts.list(webhookId, ATTEMPTS_KEPT);
  const byDelivery = new Map<string, AttemptRecord[]>();
  for (const attempt of attempts) {
    const { deliveryId } = attempt;
    byDelivery.set(deliveryId, [...(byDelivery.get(deliveryId) ?? []), attempt]);
  }
  const queued = await store.deliveries.queued(webhookId, [...byDelivery.keys()], now);
  const isQueued = new Set(queued.map(({ deliveryId }) => deliveryId));
  return [...byDelivery]
    .flatMap(([deliveryId, own]) => (isQueued.has(deliveryId) ? [] : (endedOf(own, subscription) ?? [])))
    .toSorted(laterFirst)
    .filter((delivery) => after === undefined || laterFirst(delivery, after) > 0)
    .map((delivery) => ({ delivery, cursor: { section: 'ended', after: delivery } }));
}

function laterFirst(a: EndedCursor, b: EndedCursor): number {
  return b.endedAt - a.endedAt || (a.deliveryId < b.deliveryId ? 1 : a.deliveryId > b.deliveryId ? -1 : 0);
}

/** @param attempts those of one delivery, newest first */
function endedOf(attempts: readonly AttemptRecord[], { durable }: Subscription): EndedDelivery | undefined {
  const [last] = attempts;
  if (last === undefined) return undefined;
  const { deliveryId, webhookId, runId, sequence, eventType, outcome, status, at } = last;
  // A durable delivery that failed and is not in the outbox any more has expired, or was transferred.
  if (durable && outcome !== 'delivered') return undefined;
  const state = outcome === 'denied' ? 'failed' : outcome;
  const made = last.outcome === 'skipped' ? last.attempt - 1 : last.attempt;
  return { state, deliveryId, webhookId, runId, sequence, eventType, attempts: made, lastStatus: status, endedAt: at };
}

function isWanted(delivery: FoundDelivery, { state, type, since, until, isReached }: DeliveryFilter): boolean {
  if (isReached?.(delivery.eventType) === false) return false;
  if (state !== undefined && delivery.state !== state) return false;
  if (type !== undefined && delivery.eventType !== type) return false;
  if (since === undefined && until === undefined) return true;
  const time = eventTimeOf(delivery.deliveryId);
  return time !== undefined && time >= (since ?? 0) && time < (until ?? Number.POSITIVE_INFINITY);
}
