import type { BacklogStore } from '../../ports/backlog.ts';
import {
  type Claim,
  type DeadLetter,
  type DeadLetterCount,
  type DeadLetterSelection,
  type Delivery,
  type DeliveryQueue,
  LEASE_EXCESS_MS,
  type QueuedDelivery,
  type Settlement,
  type WaitingCursor,
} from '../../ports/deliveries.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { inTurns, type TenantInLine } from '../in-turns.ts';
import { type Journal, put } from './journal.ts';

export interface MemoryDeliveries extends DeliveryQueue {
  readonly backlog: BacklogStore['read'];
  /** Deletes the deliveries and dead letters of a subscription, in the transaction that removes it. */
  drop(webhookId: string, transaction: Transaction): void;
}

/** A delivery with its state. `dueAt` is the next due time, the end of the claim, or the end of the retention. */
type Entry =
  | {
      readonly state: 'waiting';
      readonly delivery: Delivery;
      readonly dueAt: number;
      readonly lastStatus?: number | undefined;
    }
  | { readonly state: 'claimed'; readonly delivery: Delivery; readonly dueAt: number }
  | { readonly state: 'dead'; readonly delivery: Delivery; readonly dueAt: number; readonly letter: DeadLetter };

type DeadEntry = Extract<Entry, { readonly state: 'dead' }>;

/** Whether the entry is a dead letter that has not expired. */
function isKept(entry: Entry, now: number): entry is DeadEntry {
  return entry.state === 'dead' && entry.dueAt > now;
}

/** The parts of the queue share this. */
interface Outbox {
  readonly journal: Journal;
  readonly isPaused: (webhookId: string) => boolean;
  readonly tenantOf: (webhookId: string) => string | undefined;
  /** By delivery id. */
  readonly entries: Map<string, Entry>;
}

export function deliveryQueue(
  journal: Journal,
  { isPaused, tenantOf }: Pick<Outbox, 'isPaused' | 'tenantOf'>,
): MemoryDeliveries {
  const outbox: Outbox = { journal, isPaused, tenantOf, entries: new Map() };
  const { entries } = outbox;

  return {
    async enqueue(deliveries, transaction) {
      for (const { leaseUntil, ...delivery } of deliveries) {
        const { deliveryId, dueAt } = delivery;
        const entry: Entry =
          leaseUntil === undefined
            ? { state: 'waiting', delivery, dueAt }
            : { state: 'claimed', delivery, dueAt: leaseUntil };
        put(journal, transaction, entries, deliveryId, entry);
      }
    },
    ...claiming(outbox),
    ...settling(outbox),
    ...deadLetters(outbox),
    ...again(outbox),
    async backlog({ webhookIds, now, limit }) {
      const isMeant = ({ webhookId }: Delivery) => (webhookIds?.includes(webhookId) ?? true) && !isPaused(webhookId);
      const due = [...entries.values()].filter(
        ({ state, delivery, dueAt }) => state === 'waiting' && dueAt <= now && isMeant(delivery),
      );
      const times = due.map(({ dueAt }) => dueAt).filter((time) => time > 0);
      const oldestDueAt = times.length === 0 ? undefined : times.reduce((first, time) => Math.min(first, time));
      return { due: Math.min(due.length, limit), oldestDueAt };
    },
    drop(webhookId, transaction) {
      for (const [deliveryId, { delivery }] of entries) {
        if (delivery.webhookId === webhookId) put(journal, transaction, entries, deliveryId, undefined);
      }
    },
  };
}

function again({ journal, entries }: Outbox): Pick<DeliveryQueue, 'enqueueAgain' | 'queued' | 'waiting'> {
  /** The place of each delivery in lists, given when it is listed first. */
  const positions = new Map<string, number>();
  let lastPosition = 0;

  return {
    async enqueueAgain(deliveries, transaction) {
      const stays = ({ deliveryId }: Delivery) => ['waiting', 'claimed'].includes(entries.get(deliveryId)?.state ?? '');
      const added = deliveries.filter((delivery) => !stays(delivery));
      for (const delivery of added) {
        const { dueAt } = delivery;
        const revived = { ...(entries.get(delivery.deliveryId)?.delivery ?? delivery), attempts: 0, dueAt };
        put(journal, transaction, entries, delivery.deliveryId, { state: 'waiting', delivery: revived, dueAt });
      }
      return added.length;
    },
    async queued(webhookId, deliveryIds, now) {
      const found = [...new Set(deliveryIds)].flatMap((deliveryId) => entries.get(deliveryId) ?? []);
      return found
        .filter((entry) => entry.delivery.webhookId === webhookId && (entry.state !== 'dead' || isKept(entry, now)))
        .map(queuedOf);
    },
    async waiting(webhookId, { after = { dueAt: -1, position: 0 }, limit }) {
      for (const deliveryId of positions.keys()) if (!entries.has(deliveryId)) positions.delete(deliveryId);
      const own = [...entries].flatMap(([deliveryId, entry]) => {
        const position = positions.get(deliveryId) ?? ++lastPosition;
        positions.set(deliveryId, position);
        const queued = queuedOf(entry);
        const isOwn = entry.state === 'waiting' && entry.delivery.webhookId === webhookId;
        return isOwn && queued.state === 'waiting' ? [{ ...queued, position }] : [];
      });
      const isAfter = ({ dueAt, position }: WaitingCursor) =>
        dueAt > after.dueAt || (dueAt === after.dueAt && position > after.position);
      return own
        .sort((a, b) => a.dueAt - b.dueAt || a.position - b.position)
        .filter(isAfter)
        .slice(0, limit);
    },
  };
}

function queuedOf(entry: Entry): QueuedDelivery {
  const { body: _, dueAt: _first, ...delivery } = entry.delivery;
  if (entry.state === 'dead') {
    const { deadLetteredAt, expiresAt, attempts, lastStatus } = entry.letter;
    return { ...delivery, attempts, lastStatus, state: 'dead', deadLetteredAt, expiresAt };
  }
  const lastStatus = entry.state === 'waiting' ? entry.lastStatus : undefined;
  return { ...delivery, lastStatus, state: 'waiting', dueAt: entry.dueAt };
}

function claiming(outbox: Outbox): Pick<DeliveryQueue, 'claim' | 'nextDueAfter' | 'limitWaits'> {
  const { journal, entries } = outbox;
  /** The subscription of each tenant that had the last turn. */
  const lastServed = new Map<string, string>();
  let lastTenant = '';

  return {
    claim({ now, leaseUntil, limit, room }) {
      return journal.transaction(async (transaction) => {
        takeBack(now, transaction);
        const claimed = inTurns(inLine(now), { limit, room });
        for (const { delivery, tenant } of claimed) {
          const { deliveryId, webhookId } = delivery;
          put(journal, transaction, entries, deliveryId, { state: 'claimed', delivery, dueAt: leaseUntil });
          lastServed.set(tenant, webhookId);
          lastTenant = tenant;
        }
        return claimed.map(({ delivery, tenant }) => ({ ...delivery, tenant, leaseUntil }));
      });
    },
    async nextDueAfter(now) {
      const times = [...entries.values()].filter(({ state, dueAt }) => state !== 'dead' && dueAt > now);
      return times.reduce<number | undefined>(
        (first, { dueAt }) => (first === undefined || dueAt < first ? dueAt : first),
        undefined,
      );
    },
    limitWaits({ dueBy, leaseUntil }) {
      return journal.transaction(async (transaction) => {
        for (const [deliveryId, entry] of entries) {
          const { state, delivery, dueAt } = entry;
          if (state === 'waiting' && dueAt > dueBy) {
            const sooner = { ...entry, delivery: { ...delivery, dueAt: dueBy }, dueAt: dueBy };
            put(journal, transaction, entries, deliveryId, sooner);
          } else if (state === 'claimed' && dueAt > leaseUntil + LEASE_EXCESS_MS) {
            put(journal, transaction, entries, deliveryId, { ...entry, dueAt: leaseUntil });
          }
        }
      });
    },
  };

  /** Ends the claims that ran out by `now`. */
  function takeBack(now: number, transaction: Transaction): void {
    for (const [deliveryId, { state, delivery, dueAt }] of entries) {
      if (state === 'claimed' && dueAt <= now) {
        put(journal, transaction, entries, deliveryId, { state: 'waiting', delivery, dueAt: now });
      }
    }
  }

  /** Returns the tenants with due deliveries, beginning after the one that was served last. */
  function inLine(now: number): TenantInLine<Due>[] {
    const due = dueByTenant(outbox, now);
    return after(lastTenant, [...due.keys()]).map((tenant) => {
      const own = due.get(tenant) ?? new Map<string, Due[]>();
      const ids = after(lastServed.get(tenant) ?? '', [...own.keys()]);
      return { tenant, subscriptions: ids.map((webhookId) => ({ webhookId, due: () => own.get(webhookId) ?? [] })) };
    });
  }
}

interface Due {
  readonly tenant: string;
  readonly delivery: Delivery;
}

/** Returns the due deliveries by tenant and subscription, the earliest due first. */
function dueByTenant({ entries, isPaused, tenantOf }: Outbox, now: number): Map<string, Map<string, Due[]>> {
  const due = [...entries.values()].filter(({ state, dueAt }) => state === 'waiting' && dueAt <= now);
  const byTenant = new Map<string, Map<string, Due[]>>();
  for (const { delivery } of due.sort((a, b) => a.dueAt - b.dueAt)) {
    const { webhookId } = delivery;
    if (isPaused(webhookId)) continue;
    const tenant = tenantOf(webhookId) ?? '';
    const own = byTenant.get(tenant) ?? new Map<string, Due[]>();
    byTenant.set(tenant, own);
    const waiting = own.get(webhookId) ?? [];
    own.set(webhookId, waiting);
    waiting.push({ tenant, delivery });
  }
  return byTenant;
}

/** Sorts names, and begins with the first one after `last`. */
function after(last: string, names: readonly string[]): readonly string[] {
  const sorted = names.toSorted();
  return [...sorted.filter((name) => name > last), ...sorted.filter((name) => name <= last)];
}

function settling({ journal, entries }: Outbox): Pick<DeliveryQueue, 'settle' | 'release'> {
  return {
    async settle(ended, transaction) {
      return ended.map(({ claim, settlement }) => {
        const delivery = heldDelivery(claim);
        if (delivery === undefined) return false;
        put(journal, transaction, entries, claim.deliveryId, entryAfter(delivery, settlement));
        return true;
      });
    },
    release(claims, now) {
      return journal.transaction(async (transaction) => {
        for (const claim of claims) {
          const delivery = heldDelivery(claim);
          if (delivery === undefined) continue;
          const dueAt = Math.min(claim.dueAt, now);
          put(journal, transaction, entries, claim.deliveryId, { state: 'waiting', delivery, dueAt });
        }
      });
    },
  };

  /** Returns the delivery of a claim that is still held. */
  function heldDelivery({ deliveryId, leaseUntil }: Claim): Delivery | undefined {
    const entry = entries.get(deliveryId);
    return entry?.state === 'claimed' && entry.dueAt === leaseUntil ? entry.delivery : undefined;
  }
}

/** Returns the entry that a settlement leaves behind; undefined when the delivery leaves the outbox. */
function entryAfter(delivery: Delivery, settlement: Settlement): Entry | undefined {
  switch (settlement.kind) {
    case 'delivered':
    case 'dropped':
      return undefined;
    case 'retry': {
      const { attempts, lastStatus } = settlement;
      const dueAt = Math.ceil(settlement.dueAt);
      return { state: 'waiting', delivery: { ...delivery, attempts, dueAt }, dueAt, lastStatus };
    }
    case 'dead': {
      const { at: deadLetteredAt, expiresAt, attempts, lastStatus } = settlement;
      const { deliveryId, webhookId, runId, eventId, eventType } = delivery;
      const origin = { deliveryId, webhookId, runId, eventId, eventType };
      const letter = { ...origin, attempts, deadLetteredAt, expiresAt, lastStatus };
      return { state: 'dead', delivery, dueAt: expiresAt, letter };
    }
  }
}

function deadLetters({
  journal,
  entries,
}: Outbox): Pick<DeliveryQueue, 'deadLetters' | 'countDeadLetters' | 'redrive' | 'transfer' | 'sweep'> {
  const deadLetters: DeliveryQueue['deadLetters'] = async (webhookId, { before, limit, now }) => {
    const letters = [...entries.values()].flatMap((entry) => (isKept(entry, now) ? [entry.letter] : []));
    const own = letters.filter((letter) => letter.webhookId === webhookId);
    const newestFirst = own.sort(newerFirst);
    return newestFirst.filter((letter) => before === undefined || newerFirst(letter, before) > 0).slice(0, limit);
  };

  return {
    deadLetters,
    async countDeadLetters(webhookId, { before, limit, now, selection, stepMs }) {
      const looked = await deadLetters(webhookId, { before, limit, now });
      const { deadLetteredAt, deliveryId } = looked.at(-1) ?? {};
      const isFull = deadLetteredAt !== undefined && deliveryId !== undefined && looked.length === limit;
      return {
        counts: countsOf(
          looked.filter((letter) => isSelected(letter, selection)),
          stepMs,
        ),
        lookedAt: looked.length,
        last: isFull ? { deadLetteredAt, deliveryId } : undefined,
      };
    },
    async redrive({ webhookId, deliveryIds, before, now, limit }, transaction) {
      const isChosen = ([deliveryId, entry]: [string, Entry]): boolean =>
        isKept(entry, now) &&
        entry.delivery.webhookId === webhookId &&
        (entry.letter.deadLetteredAt <= before || entry.letter.deadLetteredAt > now) &&
        (deliveryIds?.includes(deliveryId) ?? true);
      const chosen = [...entries].filter(isChosen).slice(0, limit);
      for (const [deliveryId, { delivery }] of chosen) {
        const again = { ...delivery, attempts: 0, dueAt: now };
        put(journal, transaction, entries, deliveryId, { state: 'waiting', delivery: again, dueAt: now });
      }
      return chosen.length;
    },
    async transfer({ from, to, before, now, limit }, transaction) {
      const chosen = [...entries].flatMap(([deliveryId, entry]) => {
        if (!isKept(entry, now) || entry.delivery.webhookId !== from) return [];
        const { deadLetteredAt } = entry.letter;
        return deadLetteredAt <= before || deadLetteredAt > now ? [{ deliveryId, delivery: entry.delivery }] : [];
      });
      for (const { deliveryId, delivery } of chosen.slice(0, limit)) {
        const moved = { ...delivery, webhookId: to, attempts: 0, dueAt: now };
        put(journal, transaction, entries, deliveryId, { state: 'waiting', delivery: moved, dueAt: now });
      }
      return Math.min(chosen.length, limit);
    },
    sweep(now, limit) {
      return journal.transaction(async (transaction) => {
        const expired = [...entries].filter(([, { state, dueAt }]) => state === 'dead' && dueAt <= now).slice(0, limit);
        for (const [deliveryId] of expired) put(journal, transaction, entries, deliveryId, undefined);
        return expired.length;
      });
    },
  };
}

function isSelected(
  { eventType, deliveryId, lastStatus = 0 }: DeadLetter,
  { eventTypes, statuses, fromId, belowId }: DeadLetterSelection,
): boolean {
  return (
    (eventTypes?.includes(eventType) ?? true) &&
    (statuses?.includes(lastStatus) ?? true) &&
    (fromId === undefined || deliveryId >= fromId) &&
    (belowId === undefined || deliveryId < belowId)
  );
}

function countsOf(letters: readonly DeadLetter[], stepMs: number): readonly DeadLetterCount[] {
  const counts = new Map<string, DeadLetterCount>();
  for (const { eventType, lastStatus: status = 0, deadLetteredAt } of letters) {
    const at = deadLetteredAt - (deadLetteredAt % stepMs);
    const key = JSON.stringify([eventType, status, at]);
    counts.set(key, { eventType, status, at, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}

/** Sorts by descending time; dead letters of the same millisecond by descending id. */
function newerFirst(
  a: Pick<DeadLetter, 'deadLetteredAt' | 'deliveryId'>,
  b: Pick<DeadLetter, 'deadLetteredAt' | 'deliveryId'>,
): number {
  return b.deadLetteredAt - a.deadLetteredAt || (a.deliveryId < b.deliveryId ? 1 : -1);
}
