import {
  type Claim,
  type ClaimRequest,
  type DeliveryQueue,
  type EndedClaim,
  LEASE_EXCESS_MS,
  type NewDelivery,
} from '../../ports/deliveries.ts';
import type { Subscription } from '../../ports/subscriptions.ts';
import type { Transaction } from '../../ports/transaction.ts';
import {
  countedColumns,
  countedOf,
  deadLetterOf,
  deliveryOf,
  LISTED,
  LOOKED,
  queuedOf,
  waitingOf,
} from '../sql/deliveries.ts';
import { integer, optional, type Row, text } from '../sql/row.ts';
import { ClaimEnds } from './claim-ends.ts';
import type { Database, Statement } from './database.ts';
import { DueDeliveries } from './due-deliveries.ts';

const ENQUEUE = {
  name: 'deliveries-enqueue',
  text: `INSERT INTO deliveries
    (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, due_at, state, tenant)
    SELECT delivery_id, d.webhook_id, run_id, event_id, sequence, event_type, body, attempts, coalesce(lease_until, due_at),
      CASE WHEN lease_until IS NULL THEN 'waiting' ELSE 'claimed' END, coalesce(s.tenant, '')
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::integer[], $8::integer[],
      $9::bigint[], $11::bigint[]) WITH ORDINALITY
      AS d (delivery_id, webhook_id, run_id, event_id, sequence, event_type, body_n, attempts, due_at, lease_until, n)
    JOIN unnest($10::bytea[]) WITH ORDINALITY AS b (body, n) ON b.n = d.body_n
    LEFT JOIN subscriptions s ON s.webhook_id = d.webhook_id
    ORDER BY d.n`,
};
const ENQUEUE_NEW = { name: 'deliveries-enqueue-new', text: `${ENQUEUE.text} ON CONFLICT (delivery_id) DO NOTHING` };
const REVIVE = {
  name: 'deliveries-revive',
  text: `UPDATE deliveries SET state = 'waiting', due_at = d.due_at, dead_at = NULL, attempts = 0, last_status = NULL
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS d (delivery_id, webhook_id, due_at)
    WHERE deliveries.delivery_id = d.delivery_id AND deliveries.webhook_id = d.webhook_id AND state = 'dead'`,
};
const QUEUED = {
  name: 'deliveries-queued',
  text: `SELECT ${LISTED} FROM deliveries WHERE delivery_id = ANY ($2::text[]) AND webhook_id = $1
    AND (state <> 'dead' OR due_at > $3)`,
};
const WAITING = {
  name: 'deliveries-list-waiting',
  text: `SELECT ${LISTED} FROM deliveries WHERE state = 'waiting' AND webhook_id = $1 AND (due_at, position) > ($2, $3)
      AND tenant = (SELECT tenant FROM subscriptions WHERE webhook_id = $1)
    ORDER BY due_at, position LIMIT $4`,
};
export const CLAIM = {
  name: 'deliveries-claim',
  text: `WITH picked AS (
      SELECT d.position, d.due_at AS was_due, s.n FROM unnest($1::text[], $2::integer[], $6::text[])
        WITH ORDINALITY AS s (webhook_id, room, tenant, n)
      CROSS JOIN LATERAL (SELECT position, due_at FROM deliveries
        WHERE state = 'waiting' AND tenant = s.tenant AND webhook_id = s.webhook_id AND due_at <= $3
        ORDER BY due_at, position LIMIT s.room FOR UPDATE SKIP LOCKED) AS d
      ORDER BY s.n, d.due_at, d.position LIMIT $4),
    claimed AS (UPDATE deliveries SET state = 'claimed', due_at = $5
      WHERE position = ANY (ARRAY(SELECT position FROM picked)) RETURNING *)
    SELECT claimed.*, picked.was_due, picked.n FROM claimed JOIN picked USING (position)`,
};
export const NEXT_DUE = {
  name: 'deliveries-next-due',
  // `due_at + 0` is the expression of the index deliveries_next_due; the planner uses an index of an expression for
  // that expression alone.
  text: `SELECT (SELECT min(due_at + 0) FROM deliveries WHERE state = 'waiting' AND due_at + 0 > $1) AS due_at,
    coalesce((SELECT min(due_at + 0) FROM deliveries WHERE state = 'waiting') <= $1, false) AS is_due`,
};
// Written so that no index of claims fits, and each delivery is found by its id: thousands may be claimed, with the same end.
const OF_CLAIM = `deliveries.delivery_id = c.delivery_id AND state NOT IN ('waiting', 'dead')
  AND deliveries.due_at + 0 = c.lease_until`;
export const RELEASE = {
  name: 'deliveries-release',
  text: `UPDATE deliveries SET state = 'waiting', due_at = c.due_at
    FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS c (delivery_id, lease_until, due_at) WHERE ${OF_CLAIM}`,
};
const SETTLED = 'RETURNING deliveries.delivery_id, c.lease_until';
export const DELETE = {
  name: 'deliveries-delete',
  text: `DELETE FROM deliveries USING unnest($1::text[], $2::bigint[]) AS c (delivery_id, lease_until)
    WHERE ${OF_CLAIM} ${SETTLED}`,
};
export const KEEP = {
  name: 'deliveries-keep',
  text: `UPDATE deliveries SET state = c.becomes, due_at = c.next_due_at, dead_at = c.dead_at, attempts = c.attempts,
      last_status = c.last_status
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::integer[], $7::integer[])
      AS c (delivery_id, lease_until, becomes, next_due_at, dead_at, attempts, last_status) WHERE ${OF_CLAIM} ${SETTLED}`,
};
const DEAD = {
  name: 'deliveries-dead',
  text: `SELECT ${LISTED} FROM deliveries WHERE state = 'dead' AND webhook_id = $1 AND (dead_at, delivery_id) < ($2, $3)
      AND due_at > $5
    ORDER BY dead_at DESC, delivery_id DESC LIMIT $4`,
};
const SELECTED = `($6::text[] IS NULL OR event_type = ANY ($6)) AND ($7::integer[] IS NULL OR status = ANY ($7))
  AND ($8::text IS NULL OR delivery_id >= $8) AND ($9::text IS NULL OR delivery_id < $9)`;
const COUNT = {
  name: 'deliveries-count-dead',
  text: `WITH looked AS MATERIALIZED (SELECT ${LOOKED} FROM deliveries
      WHERE state = 'dead' AND webhook_id = $1 AND (dead_at, delivery_id) < ($2, $3) AND due_at > $10
      ORDER BY dead_at DESC, delivery_id DESC LIMIT $4)
    SELECT ${countedColumns(SELECTED, '$5::bigint')} FROM looked GROUP BY 1, 2, 3`,
};
const REDRIVE = {
  name: 'deliveries-redrive',
  text: `UPDATE deliveries SET state = 'waiting', due_at = $1, dead_at = NULL, attempts = 0, last_status = NULL
    WHERE position IN (SELECT position FROM deliveries WHERE state = 'dead' AND webhook_id = $2 AND (dead_at <= $5 OR dead_at > $1)
      AND due_at > $1 AND ($3::text[] IS NULL OR delivery_id = ANY ($3::text[])) LIMIT $4 FOR UPDATE)`,
};
const TRANSFER = {
  name: 'deliveries-transfer',
  text: `UPDATE deliveries SET webhook_id = $2, state = 'waiting', due_at = $4, dead_at = NULL, attempts = 0,
      last_status = NULL
    WHERE position IN (SELECT position FROM deliveries WHERE state = 'dead' AND webhook_id = $1 AND (dead_at <= $3 OR dead_at > $4)
      AND due_at > $4 LIMIT $5 FOR UPDATE)`,
};
const SWEEP = {
  name: 'deliveries-sweep',
  text: `DELETE FROM deliveries WHERE position IN (
    SELECT position FROM deliveries WHERE state = 'dead' AND due_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};

const HASTEN = {
  name: 'deliveries-hasten',
  // `due_at + 0`: see NEXT_DUE.
  text: `UPDATE deliveries SET due_at = $1 WHERE position IN (
    SELECT position FROM deliveries WHERE state = 'waiting' AND due_at + 0 > $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};
const SHORTEN = {
  name: 'deliveries-shorten-claims',
  text: `UPDATE deliveries SET due_at = $1 WHERE position IN (
    SELECT position FROM deliveries WHERE state = 'claimed' AND due_at > $2 LIMIT $3 FOR UPDATE SKIP LOCKED)`,
};
const DROP = {
  name: 'deliveries-drop',
  text: `WITH waiting AS (SELECT position FROM deliveries WHERE state = 'waiting' AND tenant = $3 AND webhook_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED),
      dead AS (SELECT position FROM deliveries WHERE state = 'dead' AND webhook_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
    DELETE FROM deliveries WHERE position IN (SELECT position FROM waiting UNION ALL SELECT position FROM dead)`,
};
// Both step along an index from subscription to subscription.
const SWEEP_LEFT = [
  {
    name: 'deliveries-sweep-left-waiting',
    text: `WITH RECURSIVE w AS (
      (SELECT tenant, webhook_id FROM deliveries WHERE state = 'waiting' ORDER BY tenant, webhook_id LIMIT 1)
      UNION ALL
      SELECT next.tenant, next.webhook_id FROM w CROSS JOIN LATERAL (SELECT d.tenant, d.webhook_id FROM deliveries d
        WHERE d.state = 'waiting' AND (d.tenant, d.webhook_id) > (w.tenant, w.webhook_id)
        ORDER BY d.tenant, d.webhook_id LIMIT 1) AS next)
    DELETE FROM deliveries WHERE position IN (
      SELECT d.position FROM w CROSS JOIN LATERAL (SELECT position FROM deliveries
        WHERE state = 'waiting' AND tenant = w.tenant AND webhook_id = w.webhook_id
        LIMIT $1 FOR UPDATE SKIP LOCKED) AS d
      WHERE NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.webhook_id = w.webhook_id) LIMIT $1)`,
  },
  {
    name: 'deliveries-sweep-left-dead',
    text: `WITH RECURSIVE w AS (
      (SELECT webhook_id FROM deliveries WHERE state = 'dead' ORDER BY webhook_id LIMIT 1)
      UNION ALL
      SELECT (SELECT d.webhook_id FROM deliveries d WHERE d.state = 'dead' AND d.webhook_id > w.webhook_id
        ORDER BY d.webhook_id LIMIT 1) FROM w WHERE w.webhook_id IS NOT NULL)
    DELETE FROM deliveries WHERE position IN (
      SELECT d.position FROM w CROSS JOIN LATERAL (SELECT position FROM deliveries
        WHERE state = 'dead' AND webhook_id = w.webhook_id LIMIT $1 FOR UPDATE SKIP LOCKED) AS d
      WHERE NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.webhook_id = w.webhook_id) LIMIT $1)`,
  },
];

/** The outbox of hosts that share a database. */
export interface SharedDeliveries extends DeliveryQueue {
  /**
   * Deletes up to 1 000 deliveries and 1 000 dead letters of a subscription, in the transaction that removes it.
   * `sweep` deletes the rest.
   */
  drop(subscription: Pick<Subscription, 'tenant' | 'webhookId'>, transaction: Transaction): Promise<void>;
}

export function deliveryQueue(database: Database): SharedDeliveries {
  const ends = new ClaimEnds(database);
  return {
    ...enqueueing(database, ends),
    ...claiming(database, ends),
    ...settling(database),
    ...deadLetters(database),
    ...listing(database),
  };
}

/** Maximum number of rows in one statement, which bounds its size however many subscriptions receive an event. */
const MAX_ROWS = 1000;

function enqueueing(database: Database, ends: ClaimEnds): Pick<DeliveryQueue, 'enqueue' | 'enqueueAgain'> {
  return {
    async enqueue(deliveries, transaction) {
      for (let from = 0; from < deliveries.length; from += MAX_ROWS) {
        await insert(ENQUEUE, deliveries.slice(from, from + MAX_ROWS), transaction);
      }
      for (const { leaseUntil } of deliveries) if (leaseUntil !== undefined) ends.note(leaseUntil);
    },
    async enqueueAgain(deliveries, transaction) {
      let again = 0;
      for (let from = 0; from < deliveries.length; from += MAX_ROWS) {
        const part = deliveries.slice(from, from + MAX_ROWS);
        const named = [part.map(({ deliveryId }) => deliveryId), part.map(({ webhookId }) => webhookId)];
        const dueAt = part.map((delivery) => delivery.dueAt);
        again += (await database.within(transaction, REVIVE, [...named, dueAt])).count;
        again += await insert(ENQUEUE_NEW, part, transaction);
      }
      return again;
    },
  };

  /** Inserts deliveries. A body that several of them share is sent once. */
  async function insert(
    statement: Statement,
    deliveries: readonly NewDelivery[],
    transaction: Transaction,
  ): Promise<number> {
    const bodies = [...new Set(deliveries.map(({ body }) => body))];
    const numbers = new Map(bodies.map((body, index) => [body, index + 1]));
    const { count } = await database.within(transaction, statement, [
      deliveries.map(({ deliveryId }) => deliveryId),
      deliveries.map(({ webhookId }) => webhookId),
      deliveries.map(({ runId }) => runId),
      deliveries.map(({ eventId }) => eventId),
      deliveries.map(({ sequence }) => sequence),
      deliveries.map(({ eventType }) => eventType),
      deliveries.map(({ body }) => numbers.get(body)),
      deliveries.map(({ attempts }) => attempts),
      deliveries.map(({ dueAt }) => dueAt),
      bodies.map((body) => Buffer.from(body.buffer, body.byteOffset, body.byteLength)),
      deliveries.map(({ leaseUntil }) => leaseUntil ?? null),
    ]);
    return count;
  }
}

/** A claim skips the deliveries that another host is claiming at the same time. */
function claiming(
  database: Database,
  ends: ClaimEnds,
): Pick<DeliveryQueue, 'claim' | 'release' | 'nextDueAfter' | 'limitWaits'> {
  const due = new DueDeliveries(database);

  return {
    claim: (request) => database.transaction((transaction) => claim(request, transaction)),
    async release(claims, now) {
      await database.query(RELEASE, [...namesOf(claims), claims.map(({ dueAt }) => Math.min(dueAt, now))]);
    },
    async nextDueAfter(now) {
      const [row] = (await database.query(NEXT_DUE, [now])).rows;
      const times = [row && optional(row, 'due_at', integer), await ends.nextAfter(now)];
      const next = earliest(times);
      // Without a due delivery there is nothing to go on with, however many tenants have deliveries that wait.
      if (row?.is_due !== true) {
        due.beginRounds();
        return next;
      }
      return earliest([next, due.goOnAt(now)]);
    },
    async limitWaits({ dueBy, leaseUntil }) {
      while ((await database.query(HASTEN, [dueBy, MAX_ROWS])).count === MAX_ROWS);
      while ((await database.query(SHORTEN, [leaseUntil, leaseUntil + LEASE_EXCESS_MS, MAX_ROWS])).count === MAX_ROWS);
    },
  };

  async function claim(request: ClaimRequest, transaction: Transaction) {
    const { now, leaseUntil, limit } = request;
    await ends.takeBack(now, transaction);
    const turns = await due.plan(request, transaction);
    if (turns.length === 0) return [];
    const ids = turns.map(({ webhookId }) => webhookId);
    const most = turns.map((each) => each.most);
    const tenants = turns.map(({ tenant }) => tenant);
    ends.note(leaseUntil);
    const { rows } = await database.within(transaction, CLAIM, [ids, most, now, limit, leaseUntil, tenants]);
    return [...rows].sort(inTurn).map((row) => ({
      ...deliveryOf({ ...row, due_at: row.was_due }),
      tenant: text(row, 'tenant'),
      leaseUntil,
    }));
  }
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function inTurn(a: Row, b: Row): number {
  return integer(a, 'n') - integer(b, 'n') || integer(a, 'position') - integer(b, 'position');
}

function namesOf(claims: readonly Claim[]) {
  return [claims.map(({ deliveryId }) => deliveryId), claims.map(({ leaseUntil }) => leaseUntil)] as const;
}

function settling(database: Database): Pick<DeliveryQueue, 'settle'> {
  return {
    async settle(ended, transaction) {
      const rows = [...(await remove(ended, transaction)), ...(await keep(ended, transaction))];
      // Keyed by the claim: the same call may end another claim on the same delivery.
      const settled = new Set(rows.map((row) => `${text(row, 'delivery_id')} ${integer(row, 'lease_until')}`));
      return ended.map(({ claim: { deliveryId, leaseUntil } }) => settled.has(`${deliveryId} ${leaseUntil}`));
    },
  };

  async function remove(ended: readonly EndedClaim[], transaction: Transaction): Promise<readonly Row[]> {
    const gone = ended.flatMap(({ claim, settlement: { kind } }) =>
      kind === 'delivered' || kind === 'dropped' ? [claim] : [],
    );
    if (gone.length === 0) return [];
    return (await database.within(transaction, DELETE, namesOf(gone))).rows;
  }

  async function keep(ended: readonly EndedClaim[], transaction: Transaction): Promise<readonly Row[]> {
    const kept = ended.flatMap(({ claim, settlement }) =>
      settlement.kind === 'retry' || settlement.kind === 'dead' ? [{ claim, settlement }] : [],
    );
    if (kept.length === 0) return [];
    const { rows } = await database.within(transaction, KEEP, [
      ...namesOf(kept.map(({ claim }) => claim)),
      kept.map(({ settlement }) => (settlement.kind === 'dead' ? 'dead' : 'waiting')),
      kept.map(({ settlement }) =>
        settlement.kind === 'dead' ? Math.round(settlement.expiresAt) : Math.ceil(settlement.dueAt),
      ),
      kept.map(({ settlement }) => (settlement.kind === 'dead' ? settlement.at : null)),
      kept.map(({ settlement }) => settlement.attempts),
      kept.map(({ settlement }) => settlement.lastStatus ?? null),
    ]);
    return rows;
  }
}

function deadLetters(
  database: Database,
): Pick<SharedDeliveries, 'deadLetters' | 'countDeadLetters' | 'redrive' | 'transfer' | 'sweep' | 'drop'> {
  return {
    async deadLetters(webhookId, { before, limit, now }) {
      const { deadLetteredAt = Number.MAX_SAFE_INTEGER, deliveryId = '' } = before ?? {};
      return (await database.query(DEAD, [webhookId, deadLetteredAt, deliveryId, limit, now])).rows.map(deadLetterOf);
    },
    async countDeadLetters(webhookId, { before, limit, now, stepMs, selection }) {
      const { deadLetteredAt = Number.MAX_SAFE_INTEGER, deliveryId = '' } = before ?? {};
      const { eventTypes, statuses, fromId, belowId } = selection;
      const page = [webhookId, deadLetteredAt, deliveryId, limit, stepMs];
      const selected = [eventTypes ?? null, statuses ?? null, fromId ?? null, belowId ?? null];
      const { rows } = await database.query(COUNT, [...page, ...selected, now]);
      return countedOf(rows, limit);
    },
    async redrive({ webhookId, deliveryIds, before, now, limit }, transaction) {
      const ids = deliveryIds === undefined ? null : [...deliveryIds];
      return (await database.within(transaction, REDRIVE, [now, webhookId, ids, limit, before])).count;
    },
    async transfer({ from, to, before, now, limit }, transaction) {
      return (await database.within(transaction, TRANSFER, [from, to, before, now, limit])).count;
    },
    async sweep(now, limit) {
      let swept = (await database.query(SWEEP, [now, limit])).count;
      // Removed subscriptions may still have rows: those beyond MAX_ROWS, and those written while the subscription was
      // being removed.
      for (const left of SWEEP_LEFT) if (swept < limit) swept += (await database.query(left, [limit - swept])).count;
      return swept;
    },
    async drop({ tenant, webhookId }, transaction) {
      await database.within(transaction, DROP, [webhookId, MAX_ROWS, tenant]);
    },
  };
}

function listing(database: Database): Pick<SharedDeliveries, 'queued' | 'waiting'> {
  return {
    async queued(webhookId, deliveryIds, now) {
      return (await database.query(QUEUED, [webhookId, [...deliveryIds], now])).rows.map(queuedOf);
    },
    async waiting(webhookId, { after = { dueAt: -1, position: 0 }, limit }) {
      return (await database.query(WAITING, [webhookId, after.dueAt, after.position, limit])).rows.map(waitingOf);
    },
  };
}
