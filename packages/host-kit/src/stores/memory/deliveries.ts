import type { BacklogStore } from '../../ports/backlog.ts';
import type {
  Claim,
  ClaimedDelivery,
  DeadLetter,
  Delivery,
  DeliveryQueue,
  QueuedDelivery,
  Settlement,
  WaitingCursor,
} from '../../ports/deliveries.ts';
import type { Transaction } from '../../ports/transaction.ts';
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

/** The parts of the queue share this. */
interface Outbox {
  readonly journal: Journal;
  readonly isPaused: (webhookId: string) => boolean;
  /** By delivery id. */
  readonly entries: Map<string, Entry>;
}

export function deliveryQueue(journal: Journal, isPaused: (webhookId: string) => boolean): MemoryDeliveries {
  const outbox: Outbox = { journal, isPaused, entries: new Map() };
  const { entries } = outbox;

  return {
    async enqueue(deliveries, transaction) {
      for (const delivery of deliveries) {
        const { dueAt } = delivery;
        put(journal, transaction, entries, delivery.deliveryId, { state: 'waiting', delivery, dueAt });
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
    async queued(webhookId, deliveryIds) {
      const found = [...new Set(deliveryIds)].flatMap((deliveryId) => entries.get(deliveryId) ?? []);
      return found.filter(({ delivery }) => delivery.webhookId === webhookId).map(queuedOf);
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

function claiming({ journal, isPaused, entries }: Outbox): Pick<DeliveryQueue, 'claim' | 'nextDueAfter'> {
  let lastServed = '';

  return {
    claim({ now, leaseUntil, limit, capacityOf }) {
      return journal.transaction(async (transaction) => {
        takeBack(now, transaction);
        const claimed: ClaimedDelivery[] = [];
        for (const webhookId of inTurn()) {
          const most = Math.min(capacityOf(webhookId), limit - claimed.length);
          if (most <= 0) continue;
          const due = waitingFor(webhookId).filter(({ dueAt }) => dueAt <= now);
          for (const { delivery } of due.slice(0, most)) {
            put(journal, transaction, entries, delivery.deliveryId, { state: 'claimed', delivery, dueAt: leaseUntil });
            claimed.push({ ...delivery, leaseUntil });
            lastServed = webhookId;
          }
        }
        return claimed;
      });
    },
    async nextDueAfter(now) {
      const times = [...entries.values()].filter(({ state, dueAt }) => state !== 'dead' && dueAt > now);
      return times.reduce<number | undefined>(
        (first, { dueAt }) => (first === undefined || dueAt < first ? dueAt : first),
        undefined,
      );
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

  /** Returns the subscriptions with waiting deliveries, beginning after the one that was served last. */
  function inTurn(): string[] {
    const waiting = [...entries.values()].filter(
      ({ state, delivery }) => state === 'waiting' && !isPaused(delivery.webhookId),
    );
    const ids = [...new Set(waiting.map(({ delivery }) => delivery.webhookId))].sort();
    return [...ids.filter((id) => id > lastServed), ...ids.filter((id) => id <= lastServed)];
  }

  function waitingFor(webhookId: string): Entry[] {
    const own = [...entries.values()].filter(
      ({ state, delivery }) => state === 'waiting' && delivery.webhookId === webhookId,
    );
    return own.sort((a, b) => a.dueAt - b.dueAt);
  }
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
    release(claims) {
      return journal.transaction(async (transaction) => {
        for (const claim of claims) {
          const delivery = heldDelivery(claim);
          if (delivery === undefined) continue;
          put(journal, transaction, entries, claim.deliveryId, { state: 'waiting', delivery, dueAt: 0 });
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
}: Outbox): Pick<DeliveryQueue, 'deadLetters' | 'redrive' | 'transfer' | 'sweep'> {
  return {
    async deadLetters(webhookId, { before, limit }) {
      const letters = [...entries.values()].flatMap((entry) => (entry.state === 'dead' ? [entry.letter] : []));
      const own = letters.filter((letter) => letter.webhookId === webhookId);
      const newestFirst = own.sort(newerFirst);
      return newestFirst.filter((letter) => before === undefined || newerFirst(letter, before) > 0).slice(0, limit);
    },
    async redrive({ webhookId, deliveryIds, now, limit }, transaction) {
      const isChosen = ([deliveryId, entry]: [string, Entry]): boolean =>
        entry.state === 'dead' &&
        entry.delivery.webhookId === webhookId &&
        entry.letter.deadLetteredAt <= now &&
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
        const isOwn = entry.state === 'dead' && entry.delivery.webhookId === from;
        return isOwn && entry.letter.deadLetteredAt <= before ? [{ deliveryId, delivery: entry.delivery }] : [];
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

/** Sorts by descending time; dead letters of the same millisecond by descending id. */
function newerFirst(
  a: Pick<DeadLetter, 'deadLetteredAt' | 'deliveryId'>,
  b: Pick<DeadLetter, 'deadLetteredAt' | 'deliveryId'>,
): number {
  return b.deadLetteredAt - a.deadLetteredAt || (a.deliveryId < b.deliveryId ? 1 : -1);
}
