import type { DatabaseSync } from 'node:sqlite';
import type { Delivery, DeliveryQueue, Settlement, WaitingDelivery } from '../../ports/deliveries.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { countedColumns, countedOf, deadLetterOf, LISTED, LOOKED, queuedOf, waitingOf } from '../sql/deliveries.ts';
import { integer, text } from '../sql/row.ts';
import { type ClaimingOptions, claiming } from './claiming.ts';
import { type HeldClaim, claims as noClaims } from './claims.ts';
import type { PositionedDelivery } from './journal-rows.ts';
import { turns as noTurns } from './turns.ts';
import { WaitingDeliveries, type WaitingRow } from './waiting-deliveries.ts';
import type { Writer } from './writer.ts';

const ENQUEUE = `INSERT INTO deliveries
  (position, delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, state, due_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?)`;
const LAST = 'SELECT coalesce(max(position), 0) AS position FROM deliveries';
const NEXT_WAITING = `SELECT webhook_id, due_at FROM deliveries INDEXED BY deliveries_waiting
  WHERE state = 'waiting' AND webhook_id > ? ORDER BY webhook_id, due_at LIMIT 1`;
const NEXT_DEAD = `SELECT webhook_id FROM deliveries INDEXED BY deliveries_dead
  WHERE state = 'dead' AND webhook_id > ? ORDER BY webhook_id LIMIT 1`;
const STATUS = 'SELECT status FROM subscriptions WHERE webhook_id = ?';
// The next process may give the position of a deleted delivery to a new one, so the id has to match too.
const OF_CLAIM = `WHERE position = ? AND delivery_id = ? AND state = 'waiting'`;
const DELETE = `DELETE FROM deliveries ${OF_CLAIM}`;
const RETRY = `UPDATE deliveries SET due_at = ?, attempts = ?, last_status = ? ${OF_CLAIM}`;
const DEAD_LETTER = `UPDATE deliveries SET state = 'dead', due_at = ?, dead_at = ?, attempts = ?, last_status = ? ${OF_CLAIM}`;
const DEAD = `SELECT ${LISTED} FROM deliveries INDEXED BY deliveries_dead
  WHERE state = 'dead' AND webhook_id = ? AND (dead_at, delivery_id) < (?, ?) AND due_at > ?
  ORDER BY dead_at DESC, delivery_id DESC LIMIT ?`;
const SELECTED = `(?6 IS NULL OR event_type IN (SELECT value FROM json_each(?6)))
  AND (?7 IS NULL OR status IN (SELECT value FROM json_each(?7)))
  AND (?8 IS NULL OR delivery_id >= ?8) AND (?9 IS NULL OR delivery_id < ?9)`;
const COUNT = `WITH looked AS MATERIALIZED (SELECT ${LOOKED} FROM deliveries INDEXED BY deliveries_dead
    WHERE state = 'dead' AND webhook_id = ?1 AND (dead_at, delivery_id) < (?2, ?3) AND due_at > ?10
    ORDER BY dead_at DESC, delivery_id DESC LIMIT ?4)
  SELECT ${countedColumns(SELECTED, '?5')} FROM looked GROUP BY 1, 2, 3`;
const AGAIN = `SET state = 'waiting', due_at = ?, dead_at = NULL, attempts = 0, last_status = NULL`;
const REDRIVE = `UPDATE deliveries ${AGAIN} WHERE position IN
  (SELECT position FROM deliveries INDEXED BY deliveries_dead
    WHERE state = 'dead' AND webhook_id = ? AND (dead_at <= ? OR dead_at > ?) AND due_at > ? LIMIT ?)`;
const REDRIVE_ONE = `UPDATE deliveries INDEXED BY deliveries_ids ${AGAIN}
  WHERE state = 'dead' AND webhook_id = ? AND (dead_at <= ? OR dead_at > ?) AND due_at > ? AND delivery_id = ?`;
const TRANSFER = `UPDATE deliveries ${AGAIN}, webhook_id = ? WHERE position IN
  (SELECT position FROM deliveries INDEXED BY deliveries_dead
    WHERE state = 'dead' AND webhook_id = ? AND (dead_at <= ? OR dead_at > ?) AND due_at > ? LIMIT ?)`;
const STATE = 'SELECT state FROM deliveries INDEXED BY deliveries_ids WHERE delivery_id = ? AND webhook_id = ?';
const REVIVE = `UPDATE deliveries INDEXED BY deliveries_ids SET state = 'waiting', due_at = ?, dead_at = NULL,
  attempts = 0, last_status = NULL WHERE state = 'dead' AND delivery_id = ? AND webhook_id = ?`;
const QUEUED = `SELECT ${LISTED} FROM deliveries INDEXED BY deliveries_ids
  WHERE delivery_id = ? AND webhook_id = ? AND (state <> 'dead' OR due_at > ?)`;
const WAITING = `SELECT ${LISTED} FROM deliveries INDEXED BY deliveries_waiting
  WHERE state = 'waiting' AND webhook_id = ? AND (due_at, position) > (?, ?) ORDER BY due_at, position LIMIT ?`;
const SWEEP = `DELETE FROM deliveries WHERE position IN
  (SELECT position FROM deliveries INDEXED BY deliveries_expiring WHERE state = 'dead' AND due_at <= ? LIMIT ?)`;
const HASTEN = `UPDATE deliveries SET due_at = ?1 WHERE position IN (SELECT position FROM deliveries INDEXED BY deliveries_waiting
  WHERE state = 'waiting' AND webhook_id = ?2 AND due_at > ?1 LIMIT ?3)`;
const DROP = ['waiting', 'dead'].map(
  (state) => `DELETE FROM deliveries WHERE position IN
  (SELECT position FROM deliveries INDEXED BY deliveries_${state} WHERE state = '${state}' AND webhook_id = ? LIMIT ?)`,
);

/**
 * The outbox of the only process that uses the database. Claims and turns are in memory, and begin anew with the
 * process.
 */
export interface OwnedDeliveries extends DeliveryQueue {
  /**
   * Deletes up to `DROPPED_AT_ONCE` deliveries and dead letters of a subscription, in the transaction that removes it.
   * `sweep` deletes the rest.
   */
  drop(webhookId: string, transaction: Transaction): void;
  /** Returns the positions of the claimed deliveries. */
  claimed(): readonly number[];
  /** Announces that another process has written to the table. */
  forgetAll(): void;
  /** Announces that a paused subscription may have been resumed. */
  statusChanged(webhookId: string): void;
}

export interface DeliveryQueueOptions extends Pick<ClaimingOptions, 'reader' | 'journal' | 'subscriptionOf'> {
  readonly database: DatabaseSync;
  readonly writer: Writer;
}

/** The parts of the queue share this. */
interface Outbox extends ClaimingOptions {
  readonly database: DatabaseSync;
  readonly writer: Writer;
  /** Removed subscriptions that still have deliveries or dead letters in the table. */
  readonly leftBehind: Set<string>;
}

export function deliveryQueue({
  reader,
  database,
  writer,
  journal,
  subscriptionOf,
}: DeliveryQueueOptions): OwnedDeliveries {
  const outbox: Outbox = {
    reader,
    database,
    writer,
    claims: noClaims(),
    turns: noTurns((webhookId) => subscriptionOf(webhookId)?.tenant),
    journal,
    waiting: new WaitingDeliveries(),
    subscriptionOf,
    leftBehind: new Set(),
  };
  takeStock(outbox);
  return {
    ...enqueueing(outbox),
    ...claiming(outbox),
    limitWaits: hastening(outbox),
    ...settling(outbox),
    ...deadLetters(outbox),
    ...listing(outbox),
    ...removing(outbox),
    claimed: outbox.claims.positions,
    forgetAll: () => outbox.waiting.forgetAll(),
    statusChanged: outbox.turns.resumed,
  };
}

/** Enters the subscriptions into `turns` or `leftBehind` whose deliveries the former process left in the table. */
function takeStock({ reader, turns, waiting, leftBehind }: Outbox): void {
  const nextWaiting = reader.prepare(NEXT_WAITING);
  const nextDead = reader.prepare(NEXT_DEAD);
  const status = reader.prepare(STATUS);
  for (let row = nextWaiting.get(''); row !== undefined; row = nextWaiting.get(text(row, 'webhook_id'))) {
    const webhookId = text(row, 'webhook_id');
    if (status.get(webhookId) === undefined) leftBehind.add(webhookId);
    else {
      waiting.forget(webhookId);
      turns.waits(webhookId, integer(row, 'due_at'));
    }
  }
  for (let row = nextDead.get(''); row !== undefined; row = nextDead.get(text(row, 'webhook_id'))) {
    const webhookId = text(row, 'webhook_id');
    if (status.get(webhookId) === undefined) leftBehind.add(webhookId);
  }
}

function enqueueing({
  database,
  writer,
  journal,
  claims,
  turns,
  waiting,
}: Outbox): Pick<DeliveryQueue, 'enqueue' | 'enqueueAgain'> {
  const enqueue = database.prepare(ENQUEUE);
  const state = database.prepare(STATE);
  const revive = database.prepare(REVIVE);
  // Given here rather than by SQLite, which would give the position of a deleted delivery to a new one.
  let position = integer(database.prepare(LAST).get() ?? {}, 'position');

  return {
    async enqueue(deliveries, transaction) {
      writer.require(transaction);
      const leases = new Map<PositionedRow, number>();
      const rows = deliveries.map(({ leaseUntil, ...delivery }) => {
        const row = positioned(delivery);
        if (leaseUntil !== undefined) leases.set(row, leaseUntil);
        return row;
      });
      // A delivery that is claimed from memory needs no row of its own: most are delivered before the journal is applied.
      const inJournal = new Set(rows.filter(({ webhookId }) => waiting.isKnown(webhookId)));
      if (inJournal.size > 0) journal.add({ kind: 'deliveries', deliveries: [...inJournal] }, transaction);
      for (const row of rows) if (!inJournal.has(row)) write(row);
      writer.whenCommitted(transaction, () => {
        for (const row of rows) {
          const { webhookId, dueAt, delivery } = row;
          const leaseUntil = leases.get(row);
          if (leaseUntil === undefined) {
            waiting.add(row, inJournal.has(row));
            turns.waits(webhookId, dueAt);
          } else {
            claims.add({ deliveryId: delivery.deliveryId, webhookId, leaseUntil, row });
            waiting.claimed(row, inJournal.has(row));
          }
        }
      });
    },
    async enqueueAgain(deliveries, transaction) {
      journal.apply(transaction);
      const again = deliveries.filter((delivery) => {
        const { deliveryId, webhookId, dueAt } = delivery;
        const row = state.get(deliveryId, webhookId);
        if (row === undefined) write(positioned(delivery));
        else if (row.state === 'dead') revive.run(dueAt, deliveryId, webhookId);
        return row?.state !== 'waiting';
      });
      writer.whenCommitted(transaction, () => {
        for (const { webhookId, dueAt } of again) {
          waiting.forget(webhookId);
          turns.waits(webhookId, dueAt);
        }
      });
      return again.length;
    },
  };

  function positioned(delivery: Delivery): PositionedRow {
    position += 1;
    return { position, webhookId: delivery.webhookId, dueAt: delivery.dueAt, delivery };
  }

  function write(row: PositionedRow): void {
    enqueue.run(...columnsOf(row));
  }
}

function listing({ reader, journal }: Outbox): Pick<DeliveryQueue, 'queued' | 'waiting'> {
  const queued = reader.prepare(QUEUED);
  const waiting = reader.prepare(WAITING);

  return {
    async queued(webhookId, deliveryIds, now) {
      const unflushed = (await journal.unflushed()).filter(({ delivery }) => delivery.webhookId === webhookId);
      return [...new Set(deliveryIds)].flatMap((deliveryId) => {
        const journalled = unflushed.filter(({ delivery }) => delivery.deliveryId === deliveryId);
        return [
          ...queued.all(deliveryId, webhookId, now).map(queuedOf),
          ...journalled.map(({ delivery }) => queuedAs(delivery)),
        ];
      });
    },
    async waiting(webhookId, { after = { dueAt: -1, position: 0 }, limit }) {
      const unflushed = (await journal.unflushed()).filter(
        ({ position, delivery }) =>
          delivery.webhookId === webhookId && isAfter({ position, dueAt: delivery.dueAt }, after),
      );
      const stored = waiting.all(webhookId, after.dueAt, after.position, limit).map(waitingOf);
      if (unflushed.length === 0) return stored;
      return [...stored, ...unflushed.map(listed)].sort((one, other) => (isAfter(one, other) ? 1 : -1)).slice(0, limit);
    },
  };
}

/** A delivery of the journal as a list shows it. */
function listed({ position, delivery }: PositionedDelivery): WaitingDelivery {
  return { ...queuedAs(delivery), position };
}

function queuedAs({ body: _, ...delivery }: Delivery) {
  return { ...delivery, lastStatus: undefined, state: 'waiting' as const };
}

interface Place {
  readonly dueAt: number;
  readonly position: number;
}

function isAfter(one: Place, other: Place): boolean {
  return one.dueAt === other.dueAt ? one.position > other.position : one.dueAt > other.dueAt;
}

/** Claims are made by this process and its monotonic clock alone, so they need no limit. */
function hastening({ database, writer, journal, turns, waiting }: Outbox): DeliveryQueue['limitWaits'] {
  const hasten = database.prepare(HASTEN);

  return async ({ dueBy }) => {
    for (const webhookId of turns.waitingPast(dueBy)) {
      for (let left = true; left; ) {
        left = await writer.transaction(async (transaction) => {
          journal.apply(transaction);
          writer.whenCommitted(transaction, () => {
            waiting.forget(webhookId);
            turns.waits(webhookId, dueBy);
          });
          return hasten.run(dueBy, webhookId, HASTENED_AT_ONCE).changes === HASTENED_AT_ONCE;
        });
      }
    }
  };
}

/** A delivery with the primary key of its row. */
interface PositionedRow extends WaitingRow {
  readonly delivery: Delivery;
}

/** Returns the values of `ENQUEUE`. */
function columnsOf({ position, delivery }: Pick<PositionedRow, 'position' | 'delivery'>) {
  const { deliveryId, webhookId, runId, eventId, sequence, eventType, body, attempts, dueAt } = delivery;
  return [position, deliveryId, webhookId, runId, eventId, sequence, eventType, body, attempts, dueAt] as const;
}

/** Deliveries of one transaction, because other writers wait for it. */
const HASTENED_AT_ONCE = 1000;

function settling({ database, writer, journal, claims, turns, waiting }: Outbox): Pick<DeliveryQueue, 'settle'> {
  const remove = database.prepare(DELETE);
  const retry = database.prepare(RETRY);
  const deadLetter = database.prepare(DEAD_LETTER);
  const enqueue = database.prepare(ENQUEUE);

  return {
    async settle(ended, transaction) {
      writer.require(transaction);
      /** The deliveries of the journal that it must not bring to the table. */
      const inJournal: number[] = [];
      const settled = ended.map(({ claim, settlement }) => {
        const held = claims.held(claim);
        if (held === undefined) return undefined;
        const { position } = held.row;
        const delivery = journal.pending.deliveries.get(position)?.delivery;
        const isJournalled = delivery?.deliveryId === held.deliveryId && !inJournal.includes(position);
        if (isJournalled) inJournal.push(position);
        const isEnd = settlement.kind === 'delivered' || settlement.kind === 'dropped';
        if (isJournalled && isEnd) return { held, settlement };
        if (isJournalled) enqueue.run(...columnsOf({ position, delivery }));
        return write(position, held.deliveryId, settlement) > 0 ? { held, settlement } : undefined;
      });
      if (inJournal.length > 0) journal.add({ kind: 'settled', settled: inJournal }, transaction);
      writer.whenCommitted(transaction, () => {
        for (const each of settled) if (each !== undefined) release(each);
      });
      return settled.map((each) => each !== undefined);
    },
  };

  /** Ends a claim whose settlement is durable. */
  function release({ held, settlement }: { readonly held: HeldClaim; readonly settlement: Settlement }): void {
    claims.end(held);
    if (settlement.kind !== 'retry') return;
    const { webhookId, row } = held;
    const dueAt = Math.ceil(settlement.dueAt);
    // Without the content: it has changed, and a retry may be hours away.
    waiting.add({ position: row.position, webhookId, dueAt, delivery: undefined });
    turns.waits(webhookId, dueAt);
  }

  /** Writes a settlement and returns the number of rows that it changed. */
  function write(position: number, deliveryId: string, settlement: Settlement): number {
    switch (settlement.kind) {
      case 'delivered':
      case 'dropped':
        return Number(remove.run(position, deliveryId).changes);
      case 'retry': {
        const { dueAt, attempts, lastStatus = null } = settlement;
        return Number(retry.run(Math.ceil(dueAt), attempts, lastStatus, position, deliveryId).changes);
      }
      case 'dead': {
        const { expiresAt, at, attempts, lastStatus = null } = settlement;
        return Number(deadLetter.run(expiresAt, at, attempts, lastStatus, position, deliveryId).changes);
      }
    }
  }
}

function deadLetters({
  reader,
  database,
  writer,
  turns,
  waiting,
}: Outbox): Pick<DeliveryQueue, 'deadLetters' | 'countDeadLetters' | 'redrive' | 'transfer'> {
  const dead = reader.prepare(DEAD);
  const count = reader.prepare(COUNT);
  const redrive = database.prepare(REDRIVE);
  const redriveOne = database.prepare(REDRIVE_ONE);
  const transfer = database.prepare(TRANSFER);

  return {
    async deadLetters(webhookId, { before, limit, now }) {
      const { deadLetteredAt = Number.MAX_SAFE_INTEGER, deliveryId = '' } = before ?? {};
      return dead.all(webhookId, deadLetteredAt, deliveryId, now, limit).map(deadLetterOf);
    },
    async countDeadLetters(webhookId, { before, limit, now, stepMs, selection }) {
      const { deadLetteredAt = Number.MAX_SAFE_INTEGER, deliveryId = '' } = before ?? {};
      const { eventTypes, statuses, fromId = null, belowId = null } = selection;
      const lists = [eventTypes, statuses].map((list) => (list === undefined ? null : JSON.stringify(list)));
      const rows = count.all(webhookId, deadLetteredAt, deliveryId, limit, stepMs, ...lists, fromId, belowId, now);
      return countedOf(rows, limit);
    },
    async redrive({ webhookId, deliveryIds, before, now, limit }, transaction) {
      writer.require(transaction);
      writer.whenCommitted(transaction, () => revived(webhookId, now));
      if (deliveryIds === undefined) return Number(redrive.run(now, webhookId, before, now, now, limit).changes);
      let count = 0;
      for (const deliveryId of deliveryIds) {
        count += Number(redriveOne.run(now, webhookId, before, now, now, deliveryId).changes);
      }
      return count;
    },
    async transfer({ from, to, before, now, limit }, transaction) {
      writer.require(transaction);
      writer.whenCommitted(transaction, () => revived(to, now));
      return Number(transfer.run(now, to, from, before, now, now, limit).changes);
    },
  };

  function revived(webhookId: string, now: number): void {
    waiting.forget(webhookId);
    turns.waits(webhookId, now);
  }
}

function removing({
  database,
  writer,
  journal,
  claims,
  turns,
  waiting,
  leftBehind,
}: Outbox): Pick<OwnedDeliveries, 'drop' | 'sweep'> {
  const sweep = database.prepare(SWEEP);
  const drops = DROP.map((sql) => database.prepare(sql));

  return {
    drop(webhookId, transaction) {
      journal.apply(transaction);
      const isAll = dropUpTo(webhookId, DROPPED_AT_ONCE, transaction) < DROPPED_AT_ONCE;
      writer.whenCommitted(transaction, () => {
        claims.endAllOf(webhookId);
        waiting.drop(webhookId);
        turns.resumed(webhookId);
        if (!isAll) leftBehind.add(webhookId);
      });
    },
    sweep(now, limit) {
      return writer.transaction(async (transaction) => {
        let swept = 0;
        for (const webhookId of leftBehind) {
          if (swept < limit) swept += dropUpTo(webhookId, limit - swept, transaction);
        }
        return swept < limit ? swept + Number(sweep.run(now, limit - swept).changes) : swept;
      });
    },
  };

  /** Deletes up to `limit` deliveries and dead letters of a removed subscription, and returns how many. */
  function dropUpTo(webhookId: string, limit: number, transaction: Transaction): number {
    let dropped = 0;
    for (const drop of drops) dropped += Number(drop.run(webhookId, limit - dropped).changes);
    if (dropped < limit) writer.whenCommitted(transaction, () => leftBehind.delete(webhookId));
    return dropped;
  }
}

/**
 * Maximum number of rows that the removal of a subscription deletes in its transaction, because other writers wait for
 * it.
 */
const DROPPED_AT_ONCE = 1000;
