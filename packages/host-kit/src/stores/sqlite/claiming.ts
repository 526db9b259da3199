import type { DatabaseSync } from 'node:sqlite';
import type { ClaimedDelivery, DeliveryQueue } from '../../ports/deliveries.ts';
import type { Subscription } from '../../ports/subscriptions.ts';
import { inTurns, type SubscriptionInLine } from '../in-turns.ts';
import { deliveryOf } from '../sql/deliveries.ts';
import { integer } from '../sql/row.ts';
import type { Claims } from './claims.ts';
import type { Turns } from './turns.ts';
import type { WaitingDeliveries, WaitingRow } from './waiting-deliveries.ts';
import type { WriteJournal } from './write-journal.ts';

const FIRST = `SELECT position, due_at FROM deliveries INDEXED BY deliveries_waiting
  WHERE webhook_id = ? AND state = 'waiting' ORDER BY due_at, position LIMIT ?`;
const ROW = 'SELECT * FROM deliveries WHERE position = ?';

export interface ClaimingOptions {
  /** Sees committed deliveries only, so that no uncommitted one is claimed. */
  readonly reader: DatabaseSync;
  readonly claims: Claims;
  readonly turns: Turns;
  readonly waiting: WaitingDeliveries;
  /** Has deliveries of known subscriptions alone, apart from those that were known when they were enqueued. */
  readonly journal: WriteJournal;
  /** Returns a subscription as it is committed; undefined when it was removed. */
  readonly subscriptionOf: (webhookId: string) => Subscription | undefined;
}

/** Claims deliveries for the only process that uses the database. A claim writes nothing. */
export function claiming(options: ClaimingOptions): Pick<DeliveryQueue, 'claim' | 'release' | 'nextDueAfter'> {
  const { reader, claims, turns, waiting, journal } = options;
  const rowAt = reader.prepare(ROW);
  /** The value of `waiting.forgotten` at the last flush: the table has what was forgotten until then. */
  const table = { upTo: 0 };
  const lookAt = looker(options, table);

  return {
    async claim({ now, leaseUntil, limit, room }) {
      const { forgotten } = waiting;
      if (forgotten !== table.upTo) {
        await journal.flush();
        table.upTo = forgotten;
      }
      for (const { row } of claims.expire(now)) {
        waiting.add(row);
        turns.waits(row.webhookId, now);
      }
      const looks: Look[] = [];
      const inLine = turns.due(now).map(({ tenant, webhookIds }) => ({
        tenant,
        subscriptions: looking(webhookIds, (webhookId, most) => {
          const look = lookAt(webhookId, now, most);
          looks.push(look);
          return look.due.map((row) => ({ tenant, row, look }));
        }),
      }));
      const picked = inTurns(inLine, { limit, room });
      for (const { look } of picked) {
        look.picked += 1;
        turns.served(look.webhookId);
      }
      for (const look of looks) {
        waiting.take(look.webhookId, look.picked);
        endTurn(look, now);
      }
      const claimed: ClaimedDelivery[] = [];
      for (const { tenant, row } of picked) {
        const delivery = row.delivery ?? storedAt(row.position);
        if (delivery === undefined) continue;
        const { deliveryId, webhookId } = delivery;
        claims.add({ deliveryId, webhookId, leaseUntil, row });
        claimed.push({ ...delivery, tenant, leaseUntil });
      }
      return claimed;
    },
    async release(released, now) {
      for (const claim of released) {
        const held = claims.held(claim);
        if (held === undefined) continue;
        claims.end(claim);
        waiting.add({ ...held.row, dueAt: Math.min(held.row.dueAt, now) });
        turns.waits(held.webhookId, 0);
      }
    },
    async nextDueAfter(now) {
      const times = [turns.nextAfter(now), claims.nextAfter(now)].filter((time) => time !== undefined);
      return times.length === 0 ? undefined : Math.min(...times);
    },
  };

  function storedAt(position: number) {
    const row = rowAt.get(position);
    return row === undefined ? undefined : deliveryOf(row);
  }

  /** Decides when the next turn of a subscription is. */
  function endTurn({ webhookId, isPaused, dueAt, picked }: Look, now: number): void {
    const next = dueAt[picked];
    if (isPaused) turns.paused(webhookId);
    else if (next === undefined || next > now) turns.rests(webhookId, next);
  }
}

/** The waiting deliveries of one subscription that a claim has seen. */
interface Look {
  readonly webhookId: string;
  readonly isPaused: boolean;
  /** The due times of the unclaimed deliveries, ascending. At least one more than `due`, if there is one. */
  readonly dueAt: readonly number[];
  /** Those that may be claimed. */
  readonly due: readonly WaitingRow[];
  /** The number of those that are claimed. */
  picked: number;
}

/** Makes a function that looks for up to `most` due deliveries of a subscription. */
function looker({ reader, claims, waiting, subscriptionOf }: ClaimingOptions, table: { readonly upTo: number }) {
  const first = reader.prepare(FIRST);

  return (webhookId: string, now: number, most: number): Look => {
    const subscription = subscriptionOf(webhookId);
    if (subscription === undefined || subscription.status === 'paused') {
      return { webhookId, isPaused: subscription !== undefined, dueAt: [], due: [], picked: 0 };
    }
    const isKnown = waiting.isKnown(webhookId);
    // Forgotten during the flush: it keeps its turn, and the next claim flushes again.
    if (!isKnown && waiting.forgotten !== table.upTo) {
      return { webhookId, isPaused: false, dueAt: [now], due: [], picked: 0 };
    }
    const rows = isKnown ? waiting.first(webhookId, most + 1) : stored(webhookId, most);
    const due = rows.filter(({ dueAt }) => dueAt <= now).slice(0, most);
    return { webhookId, isPaused: false, dueAt: rows.map(({ dueAt }) => dueAt), due, picked: 0 };
  };

  /** Reads the first unclaimed rows of an unknown subscription, which becomes known when these are all. */
  function stored(webhookId: string, most: number): readonly WaitingRow[] {
    const limit = most + claims.countOf(webhookId) + 1;
    const found = first.all(webhookId, limit);
    const rows = found.flatMap((row) => {
      const position = integer(row, 'position');
      if (claims.isClaimed(position)) return [];
      return { position, webhookId, dueAt: integer(row, 'due_at'), delivery: undefined };
    });
    if (found.length < limit) waiting.learn(webhookId, rows);
    return rows;
  }
}

/** Looks at a subscription when it has its turn, and at none of the others. */
function* looking<T>(
  webhookIds: Iterable<string>,
  due: (webhookId: string, most: number) => readonly T[],
): Iterable<SubscriptionInLine<T>> {
  for (const webhookId of webhookIds) yield { webhookId, due: (most) => due(webhookId, most) };
}
