import type { DatabaseSync } from 'node:sqlite';
import type { ClaimedDelivery, Delivery, DeliveryQueue, Settlement } from '../../ports/deliveries.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { deadLetterOf, deliveryOf, LISTED, queuedOf, waitingOf } from '../sql/deliveries.ts';
import { integer, text } from '../sql/row.ts';
import { type Claims, claims as noClaims } from './claims.ts';
import { turns as noTurns, type Turns } from './turns.ts';
import type { Writer } from './writer.ts';

const ENQUEUE = `INSERT INTO deliveries
  (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, state, due_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?)`;
const NEXT_WAITING = `SELECT webhook_id, due_at FROM deliveries INDEXED BY deliveries_waiting
  WHERE state = 'waiting' AND webhook_id > ? ORDER BY webhook_id, due_at LIMIT 1`;
const NEXT_DEAD = `SELECT webhook_id FROM deliveries INDEXED BY deliveries_dead
  WHERE state = 'dead' AND webhook_id > ? ORDER BY webhook_id LIMIT 1`;
const FIRST = `SELECT position, due_at FROM subscriptions CROSS JOIN deliveries INDEXED BY deliveries_waiting USING (webhook_id)
  WHERE webhook_id = ? AND status <> 'paused' AND state = 'waiting' ORDER BY due_at, position LIMIT ?`;
const ROW = 'SELECT * FROM deliveries WHERE position = ?';
const STATUS = 'SELECT status FROM subscriptions WHERE webhook_id = ?';
// SQLite may give the position of a deleted delivery to a new one, so the id has to match too.
const OF_CLAIM = `WHERE position = ? AND delivery_id = ? AND state = 'waiting'`;
const DELETE = `DELETE FROM deliveries ${OF_CLAIM}`;
const RETRY = `UPDATE deliveries SET due_at = ?, attempts = ?, last_status = ? ${OF_CLAIM}`;
const DEAD_LETTER = `UPDATE deliveries SET state = 'dead', due_at = ?, dead_at = ?, attempts = ?, last_status = ? ${OF_CLAIM}`;
const DEAD = `SELECT * FROM deliveries INDEXED BY deliveries_dead
  WHERE state = 'dead' AND webhook_id = ? AND (dead_at, delivery_id) < (?, ?)
  ORDER BY dead_at DESC, delivery_id DESC LIMIT ?`;
const AGAIN = `SET state = 'waiting', due_at = ?, dead_at = NULL, attempts = 0, last_status = NULL`;
const REDRIVE = `UPDATE deliveries ${AGAIN} WHERE position IN
  (SELECT position FROM deliveries WHERE state = 'dead' AND webhook_id = ? AND dead_at <= ? LIMIT ?)`;
const REDRIVE_ONE = `UPDATE deliveries INDEXED BY deliveries_ids ${AGAIN}
  WHERE state = 'dead' AND webhook_id = ? AND dead_at <= ? AND delivery_id = ?`;
const TRANSFER = `UPDATE deliveries ${AGAIN}, webhook_id = ? WHERE position IN
  (SELECT position FROM deliveries WHERE state = 'dead' AND webhook_id = ? AND dead_at <= ? LIMIT ?)`;
const STATE = 'SELECT state FROM deliveries INDEXED BY deliveries_ids WHERE delivery_id = ? AND webhook_id = ?';
const REVIVE = `UPDATE deliveries INDEXED BY deliveries_ids SET state = 'waiting', due_at = ?, dead_at = NULL,
  attempts = 0, last_status = NULL WHERE state = 'dead' AND delivery_id = ? AND webhook_id = ?`;
const QUEUED = `SELECT ${LISTED} FROM deliveries INDEXED BY deliveries_ids WHERE delivery_id = ? AND webhook_id = ?`;
const WAITING = `SELECT ${LISTED} FROM deliveries INDEXED BY deliveries_waiting
  WHERE state = 'waiting' AND webhook_id = ? AND (due_at, position) > (?, ?) ORDER BY due_at, position LIMIT ?`;
const SWEEP = `DELETE FROM deliveries WHERE position IN
  (SELECT position FROM deliveries INDEXED BY deliveries_expiring WHERE state = 'dead' AND due_at <= ? LIMIT ?)`;
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
  /** Announces that a paused subscription may have been resumed. */
  statusChanged(webhookId: string): void;
}

/** The parts of the queue share this. */
interface Outbox {
  /** Sees committed deliveries only, so that no uncommitted one is claimed. */
  readonly reader: DatabaseSync;
  readonly database: DatabaseSync;
  readonly writer: Writer;
  readonly claims: Claims;
  readonly turns: Turns;
  /** Removed subscriptions that still have deliveries or dead letters in the table. */
  readonly leftBehind: Set<string>;
}

export function deliveryQueue(reader: DatabaseSync, database: DatabaseSync, writer: Writer): OwnedDeliveries {
  const outbox: Outbox = { reader, database, writer, claims: noClaims(), turns: noTurns(), leftBehind: new Set() };
  takeStock(outbox);
  return {
    ...enqueueing(outbox),
    ...claiming(outbox),
    ...settling(outbox),
    ...deadLetters(outbox),
    ...listing(outbox),
    ...removing(outbox),
    claimed: outbox.claims.positions,
    statusChanged: outbox.turns.resumed,
  };
}

/** Enters the subscriptions into `turns` or `leftBehind` whose deliveries the former process left in the table. */
function takeStock({ reader, turns, leftBehind }: Outbox): void {
  const nextWaiting = reader.prepare(NEXT_WAITING);
  const nextDead = reader.prepare(NEXT_DEAD);
  const status = reader.prepare(STATUS);
  for (let row = nextWaiting.get(''); row !== undefined; row = nextWaiting.get(text(row, 'webhook_id'))) {
    const webhookId = text(row, 'webhook_id');
    if (status.get(webhookId) === undefined) leftBehind.add(webhookId);
    else turns.waits(webhookId, integer(row, 'due_at'));
  }
  for (let row = nextDead.get(''); row !== undefined; row = nextDead.get(text(row, 'webhook_id'))) {
    const webhookId = text(row, 'webhook_id');
    if (status.get(webhookId) === undefined) leftBehind.add(webhookId);
  }
}

function enqueueing({ database, writer, turns }: Outbox): Pick<DeliveryQueue, 'enqueue' | 'enqueueAgain'> {
  const enqueue = database.prepare(ENQUEUE);
  const state = database.prepare(STATE);
  const revive = database.prepare(REVIVE);

  return {
    async enqueue(deliveries, transaction) {
      writer.require(transaction);
      for (const delivery of deliveries) add(delivery);
      wait(deliveries, transaction);
    },
    async enqueueAgain(deliveries, transaction) {
      writer.require(transaction);
      const again = deliveries.filter((delivery) => {
        const { deliveryId, webhookId, dueAt } = delivery;
        const row = state.get(deliveryId, webhookId);
        if (row === undefined) add(delivery);
        else if (row.state === 'dead') revive.run(dueAt, deliveryId, webhookId);
        return row?.state !== 'waiting';
      });
      wait(again, transaction);
      return again.length;
    },
  };

  function add({ deliveryId, webhookId, runId, eventId, sequence, eventType, body, attempts, dueAt }: Delivery): void {
    enqueue.run(deliveryId, webhookId, runId, eventId, sequence, eventType, body, attempts, dueAt);
  }

  function wait(deliveries: readonly Delivery[], transaction: Transaction): void {
    writer.whenCommitted(transaction, () => {
      for (const { webhookId, dueAt } of deliveries) turns.waits(webhookId, dueAt);
    });
  }
}

function listing({ reader }: Outbox): Pick<DeliveryQueue, 'queued' | 'waiting'> {
  const queued = reader.prepare(QUEUED);
  const waiting = reader.prepare(WAITING);

  return {
    async queued(webhookId, deliveryIds) {
      return [...new Set(deliveryIds)].flatMap((deliveryId) => queued.all(deliveryId, webhookId).map(queuedOf));
    },
    async waiting(webhookId, { after = { dueAt: -1, position: 0 }, limit }) {
      return waiting.all(webhookId, after.dueAt, after.position, limit).map(waitingOf);
    },
  };
}

function claiming({ reader, claims, turns }: Outbox): Pick<DeliveryQueue, 'claim' | 'release' | 'nextDueAfter'> {
  const first = reader.prepare(FIRST);
  const rowAt = reader.prepare(ROW);
  const status = reader.prepare(STATUS);

  return {
    async claim({ now, leaseUntil, limit, capacityOf }) {
      for (const { webhookId } of claims.expire(now)) turns.waits(webhookId, now);
      const claimed: ClaimedDelivery[] = [];
      for (const webhookId of turns.due(now)) {
        const most = Math.min(capacityOf(webhookId), limit - claimed.length);
        if (most <= 0) continue;
        for (const position of takeTurn(webhookId, now, most)) {
          const row = rowAt.get(position);
          if (row === undefined) continue;
          const delivery = { ...deliveryOf(row), leaseUntil };
          claims.add({ deliveryId: delivery.deliveryId, leaseUntil, position, webhookId });
          claimed.push(delivery);
        }
        if (claimed.length >= limit) break;
      }
      return claimed;
    },
    async release(released) {
      for (const claim of released) {
        const held = claims.held(claim);
        if (held === undefined) continue;
        claims.end(claim);
        turns.waits(held.webhookId, 0);
      }
    },
    async nextDueAfter(now) {
      const times = [turns.nextAfter(now), claims.nextAfter(now)].filter((time) => time !== undefined);
      return times.length === 0 ? undefined : Math.min(...times);
    },
  };

  /** Returns the positions of up to `most` due deliveries of a subscription, and decides when its next turn is. */
  function takeTurn(webhookId: string, now: number, most: number): readonly number[] {
    const held = claims.countOf(webhookId);
    const rows = first.all(webhookId, most + held + 1);
    if (rows.length === 0 && status.get(webhookId)?.status === 'paused') {
      turns.paused(webhookId);
      return [];
    }
    const unclaimed = rows.filter((row) => !claims.isClaimed(integer(row, 'position')));
    const due = unclaimed.filter((row) => integer(row, 'due_at') <= now);
    const next = unclaimed[due.length];
    if (due.length > most) turns.served(webhookId);
    else turns.rests(webhookId, next && integer(next, 'due_at'));
    return due.slice(0, most).map((row) => integer(row, 'position'));
  }
}

function settling({ database, writer, claims, turns }: Outbox): Pick<DeliveryQueue, 'settle'> {
  const remove = database.prepare(DELETE);
  const retry = database.prepare(RETRY);
  const deadLetter = database.prepare(DEAD_LETTER);

  return {
    async settle(ended, transaction) {
      writer.require(transaction);
      const settled = ended.map(({ claim, settlement }) => {
        const held = claims.held(claim);
        return held !== undefined && write(held.position, held.deliveryId, settlement) > 0;
      });
      writer.whenCommitted(transaction, () => {
        for (const [index, { claim, settlement }] of ended.entries()) {
          if (settled[index] !== true) continue;
          claims.end(claim);
          if (settlement.kind === 'retry') turns.waits(claim.webhookId, Math.ceil(settlement.dueAt));
        }
      });
      return settled;
    },
  };

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
}: Outbox): Pick<DeliveryQueue, 'deadLetters' | 'redrive' | 'transfer'> {
  const dead = reader.prepare(DEAD);
  const redrive = database.prepare(REDRIVE);
  const redriveOne = database.prepare(REDRIVE_ONE);
  const transfer = database.prepare(TRANSFER);

  return {
    async deadLetters(webhookId, { before, limit }) {
      const { deadLetteredAt = Number.MAX_SAFE_INTEGER, deliveryId = '' } = before ?? {};
      return dead.all(webhookId, deadLetteredAt, deliveryId, limit).map(deadLetterOf);
    },
    async redrive({ webhookId, deliveryIds, now, limit }, transaction) {
      writer.require(transaction);
      writer.whenCommitted(transaction, () => turns.waits(webhookId, now));
      if (deliveryIds === undefined) return Number(redrive.run(now, webhookId, now, limit).changes);
      let count = 0;
      for (const deliveryId of deliveryIds) count += Number(redriveOne.run(now, webhookId, now, deliveryId).changes);
      return count;
    },
    async transfer({ from, to, before, now, limit }, transaction) {
      writer.require(transaction);
      writer.whenCommitted(transaction, () => turns.waits(to, now));
      return Number(transfer.run(now, to, from, before, limit).changes);
    },
  };
}

function removing({ database, writer, claims, turns, leftBehind }: Outbox): Pick<OwnedDeliveries, 'drop' | 'sweep'> {
  const sweep = database.prepare(SWEEP);
  const drops = DROP.map((sql) => database.prepare(sql));

  return {
    drop(webhookId, transaction) {
      const isAll = dropUpTo(webhookId, DROPPED_AT_ONCE, transaction) < DROPPED_AT_ONCE;
      writer.whenCommitted(transaction, () => {
        claims.endAllOf(webhookId);
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
