import { ABSENT, OTHER_WORKSPACE } from '../../lookup.ts';
import type { SourcePlaceStore } from '../../ports/source-places.ts';
import { LONGEST_MESSAGE_WAIT_MS, reachesTrigger, type Trigger, type TriggerStore } from '../../ports/triggers.ts';
import { integer } from '../sql/row.ts';
import {
  changingColumns,
  LISTED_COLUMNS,
  messageColumns,
  messageOf,
  triggerColumns,
  triggerOf,
} from '../sql/triggers.ts';
import type { Database } from './database.ts';
import { sourcePlaceStore } from './source-places.ts';

export function triggerStore(database: Database): TriggerStore {
  return { ...triggersOf(database), ...messagesOf(database), ...sourcePlaceStore(database) };
}

type Messages =
  | 'take'
  | 'settle'
  | 'messages'
  | 'countWaiting'
  | 'known'
  | 'due'
  | 'trimDeadLetters'
  | 'backlog'
  | 'sweep';

const INSERT = {
  name: 'triggers-insert',
  text: `INSERT INTO triggers (trigger_id, tenant, workspace, mode, state, sealed_secrets, document, next_fire_at,
      queue_connection, read_source)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
};
// Registrations of one tenant wait for each other: otherwise two could both count below the maximum and exceed it together.
const LOCK = {
  name: 'triggers-lock',
  text: `SELECT pg_advisory_xact_lock(hashtext('svc triggers ' || $1 || ' ' || $2))`,
};
const COUNT = {
  name: 'triggers-count',
  text: 'SELECT count(*) AS count FROM triggers WHERE tenant = $1 AND mode = $2 AND NOT removed',
};
const OWNED = {
  name: 'triggers-owned',
  text: 'SELECT * FROM triggers WHERE trigger_id = $1 AND tenant = $2 AND mode = $3 AND NOT removed',
};
const OWNED_LOCKED = { name: 'triggers-owned-locked', text: `${OWNED.text} FOR UPDATE` };
const LIST = {
  name: 'triggers-list',
  text: `SELECT * FROM triggers WHERE tenant = $1 AND mode = $2 AND trigger_id > $3 AND NOT removed
    ORDER BY trigger_id LIMIT $4`,
};
const READ = { name: 'triggers-read', text: 'SELECT * FROM triggers WHERE trigger_id = $1 AND NOT removed' };
const HOLD = { name: 'triggers-hold', text: `${READ.text} FOR SHARE` };
const LOCKED = { name: 'triggers-locked', text: `${READ.text} FOR UPDATE` };
const UPDATE = {
  name: 'triggers-update',
  text: `UPDATE triggers SET tenant = $2, workspace = $3, mode = $4, state = $5, sealed_secrets = $6, document = $7,
      next_fire_at = $8, queue_connection = $9, read_source = $10 WHERE trigger_id = $1`,
};
const REMOVE = { name: 'triggers-remove', text: 'UPDATE triggers SET removed = true WHERE trigger_id = $1' };
const PAGE = {
  name: 'triggers-page',
  text: 'SELECT * FROM triggers WHERE trigger_id > $1 AND NOT removed ORDER BY trigger_id LIMIT $2',
};
const DUE_SCHEDULES = {
  name: 'triggers-due-schedules',
  text: `SELECT * FROM triggers WHERE next_fire_at <= $1 AND next_fire_at IS NOT NULL AND state = 'active' AND NOT removed
    ORDER BY next_fire_at LIMIT $2`,
};
const ACTIVE_QUEUES = {
  name: 'triggers-active-queues',
  text: `SELECT * FROM triggers WHERE trigger_id > $1 AND queue_connection IS NOT NULL AND state = 'active' AND NOT removed
    ORDER BY trigger_id LIMIT $2`,
};

function triggersOf(database: Database): Omit<TriggerStore, Messages | keyof SourcePlaceStore | 'activeReadings'> {
  return {
    async insert(trigger, transaction) {
      await database.within(transaction, INSERT, columnsOf(trigger));
    },
    async count({ tenant, mode }, transaction) {
      await database.within(transaction, LOCK, [tenant, mode]);
      return integer((await database.within(transaction, COUNT, [tenant, mode])).rows[0] ?? {}, 'count');
    },
    async find(tenancy, triggerId) {
      const [row] = (await database.query(OWNED, [triggerId, tenancy.tenant, tenancy.mode])).rows;
      if (row === undefined) return ABSENT;
      const value = triggerOf(row);
      return reachesTrigger(tenancy, value) ? { kind: 'found', value } : OTHER_WORKSPACE;
    },
    async list(tenancy, { after, limit }) {
      const found: Trigger[] = [];
      for (let from = after; found.length < limit; ) {
        const { rows } = await database.query(LIST, [tenancy.tenant, tenancy.mode, from, limit]);
        const triggers = rows.map(triggerOf);
        found.push(...triggers.filter((trigger) => reachesTrigger(tenancy, trigger)));
        const last = triggers.at(-1);
        if (last === undefined || triggers.length < limit) break;
        from = last.triggerId;
      }
      return found.slice(0, limit);
    },
    async read(triggerId) {
      const [row] = (await database.query(READ, [triggerId])).rows;
      return row && triggerOf(row);
    },
    async hold(triggerId, transaction) {
      const [row] = (await database.within(transaction, HOLD, [triggerId])).rows;
      return row && triggerOf(row);
    },
    async change(triggerId, change, transaction) {
      const [row] = (await database.within(transaction, LOCKED, [triggerId])).rows;
      const changed = row && change(triggerOf(row));
      if (changed !== undefined) await database.within(transaction, UPDATE, columnsOf(changed));
      return changed;
    },
    async remove(tenancy, triggerId, transaction) {
      const values = [triggerId, tenancy.tenant, tenancy.mode];
      const [row] = (await database.within(transaction, OWNED_LOCKED, values)).rows;
      if (row === undefined) return ABSENT;
      const value = triggerOf(row);
      if (!reachesTrigger(tenancy, value)) return OTHER_WORKSPACE;
      await database.within(transaction, REMOVE, [triggerId]);
      return { kind: 'found', value };
    },
    async page({ after, limit }) {
      return (await database.query(PAGE, [after, limit])).rows.map(triggerOf);
    },
    async dueSchedules(now, limit) {
      return (await database.query(DUE_SCHEDULES, [now, limit])).rows.map(triggerOf);
    },
    async activeQueues({ after, limit }) {
      return (await database.query(ACTIVE_QUEUES, [after, limit])).rows.map(triggerOf);
    },
  };
}

/** The driver takes bytes as a Buffer. */
function columnsOf(trigger: Trigger): readonly unknown[] {
  return triggerColumns(trigger).map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));
}

// Waits for a concurrent transaction that stores the same key. An expired message is replaced.
const TAKE = {
  name: 'trigger-messages-take',
  text: `INSERT INTO trigger_messages AS m (trigger_id, dedup_key, delivery_id, outcome, attempts, received_at, updated_at,
      expires_at, next_attempt_at, run_id, problem, document)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (trigger_id, dedup_key) DO UPDATE SET delivery_id = $3, outcome = $4, attempts = $5, received_at = $6,
      updated_at = $7, expires_at = $8, next_attempt_at = $9, run_id = $10, problem = $11, document = $12
      WHERE m.expires_at <= $6`,
};
const KNOWN = {
  name: 'trigger-messages-known',
  text: 'SELECT * FROM trigger_messages WHERE trigger_id = $1 AND dedup_key = $2',
};
const KNOWN_UNTIL = {
  name: 'trigger-messages-known-until',
  text: `SELECT ${LISTED_COLUMNS} FROM trigger_messages WHERE trigger_id = $1 AND dedup_key = $2 AND expires_at > $3`,
};
// The ids are in the order of their times. Two hosts that trim one trigger at once delete no letter twice.
const TRIM = {
  name: 'trigger-messages-trim',
  text: `DELETE FROM trigger_messages WHERE (trigger_id, dedup_key) IN (SELECT trigger_id, dedup_key FROM trigger_messages
    WHERE trigger_id = $1 AND outcome = 'dead-lettered' AND outcome <> 'delivered'
      AND delivery_id <= (SELECT delivery_id FROM trigger_messages
        WHERE trigger_id = $1 AND outcome = 'dead-lettered' AND outcome <> 'delivered'
        ORDER BY delivery_id DESC OFFSET $2 LIMIT 1)
    ORDER BY delivery_id LIMIT 500 FOR UPDATE SKIP LOCKED)`,
};
const BACKLOG = {
  name: 'trigger-messages-backlog',
  text: `SELECT
    (SELECT count(*) FROM (SELECT 1 FROM trigger_messages WHERE next_attempt_at IS NOT NULL LIMIT $1) AS w) AS waiting,
    (SELECT count(*) FROM (SELECT 1 FROM trigger_messages
      WHERE outcome = 'dead-lettered' AND outcome <> 'delivered' LIMIT $1) AS d) AS dead_letters`,
};
const SETTLE = {
  name: 'trigger-messages-settle',
  text: `UPDATE trigger_messages SET outcome = $1, attempts = $2, received_at = $3, updated_at = $4, expires_at = $5,
      next_attempt_at = $6, run_id = $7, problem = $8, document = CASE WHEN $1 = 'delivered' THEN NULL ELSE document END
    WHERE trigger_id = $9 AND dedup_key = $10 AND delivery_id = $11 AND outcome = $12 AND attempts = $13`,
};
const MESSAGES = {
  name: 'trigger-messages-list',
  text: `SELECT ${LISTED_COLUMNS} FROM trigger_messages WHERE trigger_id = $1 AND ($2::text IS NULL OR delivery_id < $2)
    AND expires_at > $3 ORDER BY delivery_id DESC LIMIT $4`,
};
const OF_OUTCOME = {
  name: 'trigger-messages-of-outcome',
  text: `SELECT ${LISTED_COLUMNS} FROM trigger_messages WHERE trigger_id = $1 AND ($2::text IS NULL OR delivery_id < $2)
    AND expires_at > $3 AND outcome = $5 AND outcome <> 'delivered' ORDER BY delivery_id DESC LIMIT $4`,
};
const WAITING = {
  name: 'trigger-messages-waiting',
  text: `SELECT count(*) AS count FROM (SELECT 1 FROM trigger_messages
    WHERE trigger_id = $1 AND outcome = 'retrying' AND outcome <> 'delivered' LIMIT $2) AS waiting`,
};
const DUE = {
  name: 'trigger-messages-due',
  text: `SELECT m.* FROM trigger_messages m JOIN triggers t USING (trigger_id)
    WHERE m.next_attempt_at IS NOT NULL AND (m.next_attempt_at <= $1 OR m.next_attempt_at > $2)
      AND t.state <> 'paused' AND NOT t.removed
    ORDER BY m.next_attempt_at LIMIT $3`,
};
const SWEEP_EXPIRED = {
  name: 'trigger-messages-sweep-expired',
  text: `DELETE FROM trigger_messages WHERE (trigger_id, dedup_key) IN (SELECT trigger_id, dedup_key FROM trigger_messages
    WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};
const SWEEP_REMOVED = {
  name: 'trigger-messages-sweep-removed',
  text: `DELETE FROM trigger_messages WHERE (trigger_id, dedup_key) IN (SELECT m.trigger_id, m.dedup_key
    FROM trigger_messages m JOIN triggers t USING (trigger_id) WHERE t.removed LIMIT $1 FOR UPDATE OF m SKIP LOCKED)`,
};
const SWEEP_TRIGGERS = {
  name: 'triggers-sweep',
  text: `DELETE FROM triggers t WHERE t.removed
    AND NOT EXISTS (SELECT 1 FROM trigger_messages m WHERE m.trigger_id = t.trigger_id)`,
};

const SWEEP_PLACES = {
  name: 'trigger-places-sweep',
  text: `DELETE FROM trigger_places p WHERE NOT EXISTS (SELECT 1 FROM triggers t WHERE t.trigger_id = p.trigger_id)`,
};

function messagesOf(database: Database): Pick<TriggerStore, Messages> {
  return {
    async take(message, transaction) {
      if ((await database.within(transaction, TAKE, messageColumns(message))).count > 0) return undefined;
      const { triggerId, dedupKey } = message;
      const [row] = (await database.within(transaction, KNOWN, [triggerId, dedupKey])).rows;
      if (row === undefined) throw new Error('The message that this one repeats was deleted meanwhile. Send it again.');
      return messageOf(row);
    },
    async settle(before, after, transaction) {
      const { triggerId, dedupKey, deliveryId, outcome, attempts } = before;
      const values = [...changingColumns(after), triggerId, dedupKey, deliveryId, outcome, attempts];
      return (await database.within(transaction, SETTLE, values)).count > 0;
    },
    async messages(triggerId, { before, now, limit, outcome }) {
      const values = [triggerId, before ?? null, now, limit];
      const found =
        outcome === undefined ? database.query(MESSAGES, values) : database.query(OF_OUTCOME, [...values, outcome]);
      return (await found).rows.map(messageOf);
    },
    async countWaiting(triggerId, limit) {
      return integer((await database.query(WAITING, [triggerId, limit])).rows[0] ?? {}, 'count');
    },
    async known(triggerId, dedupKey, now) {
      const [row] = (await database.query(KNOWN_UNTIL, [triggerId, dedupKey, now])).rows;
      return row && messageOf(row);
    },
    async trimDeadLetters(triggerId, most, transaction) {
      return (await database.within(transaction, TRIM, [triggerId, most])).count;
    },
    async backlog(limit) {
      const [row = {}] = (await database.query(BACKLOG, [limit])).rows;
      return { waiting: integer(row, 'waiting'), deadLetters: integer(row, 'dead_letters') };
    },
    async due(now, limit) {
      return (await database.query(DUE, [now, now + LONGEST_MESSAGE_WAIT_MS, limit])).rows.map(messageOf);
    },
    async sweep(now, limit) {
      const expired = (await database.query(SWEEP_EXPIRED, [now, limit])).count;
      const removed = expired < limit ? (await database.query(SWEEP_REMOVED, [limit - expired])).count : 0;
      if (expired + removed < limit && (await database.query(SWEEP_TRIGGERS, [])).count > 0)
        await database.query(SWEEP_PLACES, []);
      return expired + removed;
    },
  };
}
