import type { Transaction } from '../../transaction.ts';
import type { Claim, Settlement } from '../../webhooks/delivery.ts';
import type { ClaimRequest, DeliveryQueue, Room } from '../../webhooks/delivery-queue.ts';
import { deadLetterOf, deliveryOf } from '../sql/delivery-row.ts';
import { integer, optional, type Row, text } from '../sql/row.ts';
import type { Database } from './database.ts';

const ENQUEUE = {
  name: 'deliveries-enqueue',
  text: `INSERT INTO deliveries
    (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, due_at, state)
    SELECT delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, due_at, 'waiting'
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bytea[], $8::integer[],
      $9::bigint[]) WITH ORDINALITY
      AS d (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, due_at, n)
    ORDER BY n`,
};
const TAKE_BACK = {
  name: 'deliveries-take-back',
  text: `UPDATE deliveries SET state = 'waiting', due_at = $1 WHERE position IN (
    SELECT position FROM deliveries WHERE state = 'claimed' AND due_at <= $1 FOR UPDATE SKIP LOCKED)`,
};
// Steps from subscription to subscription along the index, however long the backlog of each.
const WAITING_SUBSCRIPTIONS = `WITH RECURSIVE w AS (
    (SELECT webhook_id FROM deliveries WHERE state = 'waiting' ORDER BY webhook_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.webhook_id FROM deliveries d WHERE d.state = 'waiting' AND d.webhook_id > w.webhook_id
      ORDER BY d.webhook_id LIMIT 1) FROM w WHERE w.webhook_id IS NOT NULL)`;
const SUBSCRIPTIONS = {
  name: 'deliveries-subscriptions',
  text: `${WAITING_SUBSCRIPTIONS}
    SELECT w.webhook_id, first.due_at FROM w JOIN subscriptions s USING (webhook_id)
    CROSS JOIN LATERAL (SELECT due_at FROM deliveries d WHERE d.state = 'waiting' AND d.webhook_id = w.webhook_id
      ORDER BY due_at LIMIT 1) AS first
    WHERE s.status <> 'paused'`,
};
const CLAIM = {
  name: 'deliveries-claim',
  text: `WITH picked AS (
      SELECT d.position, d.due_at AS was_due, s.n FROM unnest($1::text[], $2::integer[])
        WITH ORDINALITY AS s (webhook_id, room, n)
      CROSS JOIN LATERAL (SELECT position, due_at FROM deliveries
        WHERE state = 'waiting' AND webhook_id = s.webhook_id AND due_at <= $3
        ORDER BY due_at, position LIMIT s.room FOR UPDATE SKIP LOCKED) AS d
      ORDER BY s.n, d.due_at, d.position LIMIT $4)
    UPDATE deliveries SET state = 'claimed', due_at = $5 FROM picked WHERE deliveries.position = picked.position
    RETURNING deliveries.*, picked.was_due, picked.n`,
};
const NEXT_DUE = {
  name: 'deliveries-next-due',
  text: `SELECT least(
    (SELECT min(due_at) FROM deliveries WHERE state = 'waiting' AND due_at > $1),
    (SELECT min(due_at) FROM deliveries WHERE state = 'claimed' AND due_at > $1)) AS due_at`,
};
const RELEASE = {
  name: 'deliveries-release',
  text: `UPDATE deliveries SET state = 'waiting', due_at = 0
    FROM unnest($1::text[], $2::bigint[]) AS c (delivery_id, lease_until)
    WHERE deliveries.delivery_id = c.delivery_id AND state = 'claimed' AND due_at = c.lease_until`,
};
const OF_CLAIM = `WHERE delivery_id = $1 AND state = 'claimed' AND due_at = $2`;
const DELETE = { name: 'deliveries-delete', text: `DELETE FROM deliveries ${OF_CLAIM}` };
const RETRY = {
  name: 'deliveries-retry',
  text: `UPDATE deliveries SET state = 'waiting', due_at = $3, attempts = $4, last_status = $5 ${OF_CLAIM}`,
};
const BURY = {
  name: 'deliveries-bury',
  text: `UPDATE deliveries SET state = 'dead', due_at = $3, dead_at = $4, attempts = $5, last_status = $6 ${OF_CLAIM}`,
};
const DEAD = {
  name: 'deliveries-dead',
  text: `SELECT * FROM deliveries WHERE state = 'dead' AND webhook_id = $1 AND (dead_at, delivery_id) < ($2, $3)
    ORDER BY dead_at DESC, delivery_id DESC LIMIT $4`,
};
const REDRIVE = {
  name: 'deliveries-redrive',
  text: `UPDATE deliveries SET state = 'waiting', due_at = $1, dead_at = NULL, attempts = 0, last_status = NULL
    WHERE position IN (SELECT position FROM deliveries WHERE state = 'dead' AND webhook_id = $2 AND dead_at <= $1
      AND ($3::text[] IS NULL OR delivery_id = ANY ($3::text[])) LIMIT $4 FOR UPDATE)`,
};
const SWEEP = {
  name: 'deliveries-sweep',
  text: `DELETE FROM deliveries WHERE position IN (
    SELECT position FROM deliveries WHERE state = 'dead' AND due_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};

/** The outbox of hosts that share a database: a claim skips what another host is claiming. */
export function deliveryQueue(database: Database): DeliveryQueue {
  // Where the last round stopped: the next begins with the subscription after it.
  let lastServed = '';

  return {
    async enqueue(deliveries, transaction) {
      const column = <T>(of: (delivery: (typeof deliveries)[number]) => T): T[] => deliveries.map(of);
      await database.within(transaction, ENQUEUE, [
        column(({ deliveryId }) => deliveryId),
        column(({ webhookId }) => webhookId),
        column(({ runId }) => runId),
        column(({ eventId }) => eventId),
        column(({ sequence }) => sequence),
        column(({ eventType }) => eventType),
        column(({ body }) => Buffer.from(body)),
        column(({ attempts }) => attempts),
        column(({ dueAt }) => dueAt),
      ]);
    },
    claim: (request) => database.transaction((transaction) => claim(request, transaction)),
    async settle(claimed, settlement, transaction) {
      return (await settle(claimed, settlement, transaction)).count > 0;
    },
    async release(claims) {
      const ids = claims.map(({ deliveryId }) => deliveryId);
      await database.query(RELEASE, [ids, claims.map(({ leaseUntil }) => leaseUntil)]);
    },
    async nextDueAfter(now) {
      const [row] = (await database.query(NEXT_DUE, [now])).rows;
      return row && optional(row, 'due_at', integer);
    },
    async deadLetters(webhookId, { before, limit }) {
      const { deadLetteredAt = Number.MAX_SAFE_INTEGER, deliveryId = '' } = before ?? {};
      return (await database.query(DEAD, [webhookId, deadLetteredAt, deliveryId, limit])).rows.map(deadLetterOf);
    },
    async redrive({ webhookId, deliveryIds, now, limit }, transaction) {
      const ids = deliveryIds === undefined ? null : [...deliveryIds];
      return (await database.within(transaction, REDRIVE, [now, webhookId, ids, limit])).count;
    },
    async sweep(now, limit) {
      return (await database.query(SWEEP, [now, limit])).count;
    },
  };

  async function claim({ now, leaseUntil, limit, room }: ClaimRequest, transaction: Transaction) {
    await database.within(transaction, TAKE_BACK, [now]);
    const waiting = (await subscriptionsWithRoom(room, transaction)).filter(({ dueAt }) => dueAt <= now);
    const turn = [
      ...waiting.filter(({ webhookId }) => webhookId > lastServed),
      ...waiting.filter(({ webhookId }) => webhookId <= lastServed),
    ];
    if (turn.length === 0) return [];
    const ids = turn.map(({ webhookId }) => webhookId);
    const rooms = turn.map((subscription) => Math.min(subscription.room, limit));
    const { rows } = await database.within(transaction, CLAIM, [ids, rooms, now, limit, leaseUntil]);
    const claimed = [...rows].sort(inTurn).map((row) => ({
      ...deliveryOf({ ...row, due_at: row.was_due }),
      leaseUntil,
    }));
    lastServed = claimed.at(-1)?.webhookId ?? lastServed;
    return claimed;
  }

  async function subscriptionsWithRoom(room: Room, transaction: Transaction) {
    const { rows } = await database.within(transaction, SUBSCRIPTIONS, []);
    return rows
      .map((row) => ({ webhookId: text(row, 'webhook_id'), dueAt: integer(row, 'due_at') }))
      .map((subscription) => ({ ...subscription, room: room(subscription.webhookId) }))
      .filter((subscription) => subscription.room > 0);
  }

  function settle({ deliveryId, leaseUntil }: Claim, settlement: Settlement, transaction: Transaction) {
    switch (settlement.kind) {
      case 'delivered':
      case 'dropped':
        return database.within(transaction, DELETE, [deliveryId, leaseUntil]);
      case 'retry': {
        const { dueAt, attempts, lastStatus = null } = settlement;
        return database.within(transaction, RETRY, [deliveryId, leaseUntil, Math.ceil(dueAt), attempts, lastStatus]);
      }
      case 'dead': {
        const { expiresAt, at, attempts, lastStatus = null } = settlement;
        const values = [deliveryId, leaseUntil, Math.round(expiresAt), at, attempts, lastStatus];
        return database.within(transaction, BURY, values);
      }
    }
  }
}

function inTurn(a: Row, b: Row): number {
  return integer(a, 'n') - integer(b, 'n') || integer(a, 'position') - integer(b, 'position');
}
