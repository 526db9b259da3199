import type { DatabaseSync } from 'node:sqlite';
import type { Claim, ClaimedDelivery, Settlement } from '../../webhooks/delivery.ts';
import type { DeliveryQueue } from '../../webhooks/delivery-queue.ts';
import { deadLetterOf, deliveryOf } from '../sql/delivery-row.ts';
import { integer, optional, text } from '../sql/row.ts';
import type { Writer } from './writer.ts';

const ENQUEUE = `INSERT INTO deliveries
  (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, state, due_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?)`;
const NEXT_SUBSCRIPTION = `SELECT webhook_id FROM deliveries INDEXED BY deliveries_waiting
  WHERE state = 'waiting' AND webhook_id > ? ORDER BY webhook_id LIMIT 1`;
const DUE = `SELECT * FROM deliveries INDEXED BY deliveries_waiting
  WHERE state = 'waiting' AND webhook_id = ? AND due_at <= ? ORDER BY due_at, position LIMIT ?`;
const CLAIM = `UPDATE deliveries SET state = 'claimed', due_at = ? WHERE position = ?`;
const TAKE_BACK = `UPDATE deliveries SET state = 'waiting', due_at = ? WHERE state = 'claimed' AND due_at <= ?`;
const NEXT_DUE = `SELECT min(due_at) AS due_at FROM (
  SELECT min(due_at) AS due_at FROM deliveries INDEXED BY deliveries_due WHERE state = 'waiting' AND due_at > ?1
  UNION ALL
  SELECT min(due_at) FROM deliveries INDEXED BY deliveries_claimed WHERE state = 'claimed' AND due_at > ?1)`;
const OF_CLAIM = `WHERE delivery_id = ? AND state = 'claimed' AND due_at = ?`;
const RELEASE = `UPDATE deliveries SET state = 'waiting', due_at = 0 ${OF_CLAIM}`;
const DELETE = `DELETE FROM deliveries ${OF_CLAIM}`;
const RETRY = `UPDATE deliveries SET state = 'waiting', due_at = ?, attempts = ?, last_status = ? ${OF_CLAIM}`;
const BURY = `UPDATE deliveries SET state = 'dead', due_at = ?, dead_at = ?, attempts = ?, last_status = ? ${OF_CLAIM}`;
const DEAD = `SELECT * FROM deliveries INDEXED BY deliveries_dead
  WHERE state = 'dead' AND webhook_id = ? AND (dead_at, delivery_id) < (?, ?)
  ORDER BY dead_at DESC, delivery_id DESC LIMIT ?`;
const REDRIVE = `UPDATE deliveries SET state = 'waiting', due_at = ?, dead_at = NULL, attempts = 0, last_status = NULL
  WHERE position IN (SELECT position FROM deliveries WHERE state = 'dead' AND webhook_id = ? AND dead_at <= ? LIMIT ?)`;
const REDRIVE_ONE = `UPDATE deliveries SET state = 'waiting', due_at = ?, dead_at = NULL, attempts = 0, last_status = NULL
  WHERE state = 'dead' AND webhook_id = ? AND dead_at <= ? AND delivery_id = ?`;
const IS_PAUSED = `SELECT 1 AS paused FROM subscriptions WHERE webhook_id = ? AND status = 'paused'`;
const SWEEP = `DELETE FROM deliveries WHERE position IN
  (SELECT position FROM deliveries INDEXED BY deliveries_expiring WHERE state = 'dead' AND due_at <= ? LIMIT ?)`;

export function deliveryQueue(reader: DatabaseSync, database: DatabaseSync, writer: Writer): DeliveryQueue {
  const enqueue = database.prepare(ENQUEUE);
  const nextSubscription = database.prepare(NEXT_SUBSCRIPTION);
  const due = database.prepare(DUE);
  const claim = database.prepare(CLAIM);
  const takeBack = database.prepare(TAKE_BACK);
  const release = database.prepare(RELEASE);
  const settle = settler(database);
  const sweep = database.prepare(SWEEP);
  const nextDue = reader.prepare(NEXT_DUE);
  const dead = reader.prepare(DEAD);
  const redrive = database.prepare(REDRIVE);
  const redriveOne = database.prepare(REDRIVE_ONE);
  const isPaused = database.prepare(IS_PAUSED);
  // Where the last round stopped: the next begins with the subscription after it.
  let lastServed = '';

  return {
    async enqueue(deliveries, transaction) {
      writer.require(transaction);
      for (const { deliveryId, webhookId, runId, eventId, sequence, eventType, body, attempts, dueAt } of deliveries) {
        enqueue.run(deliveryId, webhookId, runId, eventId, sequence, eventType, body, attempts, dueAt);
      }
    },
    claim({ now, leaseUntil, limit, room }) {
      return writer.transaction(async () => {
        takeBack.run(now, now);
        const claimed: ClaimedDelivery[] = [];
        for (const webhookId of waitingSubscriptions()) {
          const most = Math.min(room(webhookId), limit - claimed.length);
          if (most <= 0 || isPaused.get(webhookId) !== undefined) continue;
          const rows = due.all(webhookId, now, most);
          for (const row of rows) claim.run(leaseUntil, integer(row, 'position'));
          claimed.push(...rows.map((row) => ({ ...deliveryOf(row), leaseUntil })));
          if (rows.length > 0) lastServed = webhookId;
          if (claimed.length >= limit) break;
        }
        return claimed;
      });
    },
    async settle(claimed, settlement, transaction) {
      writer.require(transaction);
      return settle(claimed, settlement) > 0;
    },
    release(claims) {
      return writer.transaction(async () => {
        for (const { deliveryId, leaseUntil } of claims) release.run(deliveryId, leaseUntil);
      });
    },
    async nextDueAfter(now) {
      const row = nextDue.get(now);
      return row && optional(row, 'due_at', integer);
    },
    async deadLetters(webhookId, { before, limit }) {
      const { deadLetteredAt = Number.MAX_SAFE_INTEGER, deliveryId = '' } = before ?? {};
      return dead.all(webhookId, deadLetteredAt, deliveryId, limit).map(deadLetterOf);
    },
    async redrive({ webhookId, deliveryIds, now, limit }, transaction) {
      writer.require(transaction);
      if (deliveryIds === undefined) return Number(redrive.run(now, webhookId, now, limit).changes);
      let count = 0;
      for (const deliveryId of deliveryIds) count += Number(redriveOne.run(now, webhookId, now, deliveryId).changes);
      return count;
    },
    sweep(now, limit) {
      return writer.transaction(async () => Number(sweep.run(now, limit).changes));
    },
  };

  /** Every subscription with something waiting, once, beginning after the one that was served last. */
  function* waitingSubscriptions(): Generator<string> {
    const begin = lastServed;
    yield* subscriptionsBetween(begin, undefined);
    yield* subscriptionsBetween('', begin);
  }

  function* subscriptionsBetween(after: string, last: string | undefined): Generator<string> {
    for (let row = nextSubscription.get(after); row !== undefined; ) {
      const webhookId = text(row, 'webhook_id');
      if (last !== undefined && webhookId > last) return;
      yield webhookId;
      row = nextSubscription.get(webhookId);
    }
  }
}

/** Writes where an attempt left a delivery, and tells how many it found. */
function settler(database: DatabaseSync): (claim: Claim, settlement: Settlement) => number {
  const remove = database.prepare(DELETE);
  const retry = database.prepare(RETRY);
  const bury = database.prepare(BURY);

  return ({ deliveryId, leaseUntil }, settlement) => {
    switch (settlement.kind) {
      case 'delivered':
      case 'dropped':
        return Number(remove.run(deliveryId, leaseUntil).changes);
      case 'retry': {
        const { dueAt, attempts, lastStatus = null } = settlement;
        return Number(retry.run(Math.ceil(dueAt), attempts, lastStatus, deliveryId, leaseUntil).changes);
      }
      case 'dead': {
        const { expiresAt, at, attempts, lastStatus = null } = settlement;
        return Number(bury.run(expiresAt, at, attempts, lastStatus, deliveryId, leaseUntil).changes);
      }
    }
  };
}
