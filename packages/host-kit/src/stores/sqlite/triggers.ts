import type { DatabaseSync } from 'node:sqlite';
import { ABSENT, OTHER_WORKSPACE } from '../../lookup.ts';
import type { SourcePlaceStore } from '../../ports/source-places.ts';
import { LONGEST_MESSAGE_WAIT_MS, reachesTrigger, type TriggerStore } from '../../ports/triggers.ts';
import { integer } from '../sql/row.ts';
import {
  changingColumns,
  LISTED_COLUMNS,
  messageColumns,
  messageOf,
  triggerColumns,
  triggerOf,
} from '../sql/triggers.ts';
import { sourcePlaceStore } from './source-places.ts';
import type { Writer } from './writer.ts';

export function triggerStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): TriggerStore {
  return {
    ...triggersOf(reader, database, writer),
    ...messagesOf(reader, database, writer),
    ...sourcePlaceStore(reader, database, writer),
  };
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

const INSERT = `INSERT INTO triggers (trigger_id, tenant, workspace, mode, state, sealed_secrets, document, next_fire_at,
    queue_connection, read_source)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const COUNT = 'SELECT count(*) AS count FROM triggers WHERE tenant = ? AND mode = ? AND removed = 0';
const OWNED = 'SELECT * FROM triggers WHERE trigger_id = ? AND tenant = ? AND mode = ? AND removed = 0';
const LIST = `SELECT * FROM triggers WHERE tenant = ? AND mode = ? AND trigger_id > ? AND removed = 0
  ORDER BY trigger_id LIMIT ?`;
const READ = 'SELECT * FROM triggers WHERE trigger_id = ? AND removed = 0';
const UPDATE = `UPDATE triggers SET tenant = ?2, workspace = ?3, mode = ?4, state = ?5, sealed_secrets = ?6, document = ?7,
  next_fire_at = ?8, queue_connection = ?9, read_source = ?10 WHERE trigger_id = ?1`;
const REMOVE = 'UPDATE triggers SET removed = 1 WHERE trigger_id = ?';
const PAGE = 'SELECT * FROM triggers WHERE trigger_id > ? AND removed = 0 ORDER BY trigger_id LIMIT ?';
const DUE_SCHEDULES = `SELECT * FROM triggers WHERE next_fire_at <= ? AND next_fire_at IS NOT NULL AND state = 'active'
  AND removed = 0 ORDER BY next_fire_at LIMIT ?`;
const ACTIVE_QUEUES = `SELECT * FROM triggers WHERE trigger_id > ? AND queue_connection IS NOT NULL AND state = 'active'
  AND removed = 0 ORDER BY trigger_id LIMIT ?`;

function triggersOf(
  reader: DatabaseSync,
  database: DatabaseSync,
  writer: Writer,
): Omit<TriggerStore, Messages | keyof SourcePlaceStore | 'activeReadings'> {
  const insert = database.prepare(INSERT);
  const count = database.prepare(COUNT);
  const owned = database.prepare(OWNED);
  const current = database.prepare(READ);
  const update = database.prepare(UPDATE);
  const remove = database.prepare(REMOVE);
  const find = reader.prepare(OWNED);
  const list = reader.prepare(LIST);
  const read = reader.prepare(READ);
  const page = reader.prepare(PAGE);
  const dueSchedules = reader.prepare(DUE_SCHEDULES);
  const activeQueues = reader.prepare(ACTIVE_QUEUES);

  return {
    async insert(trigger, transaction) {
      writer.require(transaction);
      insert.run(...triggerColumns(trigger));
    },
    async count({ tenant, mode }, transaction) {
      writer.require(transaction);
      return integer(count.get(tenant, mode) ?? {}, 'count');
    },
    async find(tenancy, triggerId) {
      const row = find.get(triggerId, tenancy.tenant, tenancy.mode);
      if (row === undefined) return ABSENT;
      const value = triggerOf(row);
      return reachesTrigger(tenancy, value) ? { kind: 'found', value } : OTHER_WORKSPACE;
    },
    async list(tenancy, { after, limit }) {
      const found = [];
      for (let from = after; found.length < limit; ) {
        const rows = list.all(tenancy.tenant, tenancy.mode, from, limit).map(triggerOf);
        found.push(...rows.filter((trigger) => reachesTrigger(tenancy, trigger)));
        const last = rows.at(-1);
        if (last === undefined || rows.length < limit) break;
        from = last.triggerId;
      }
      return found.slice(0, limit);
    },
    async read(triggerId) {
      const row = read.get(triggerId);
      return row && triggerOf(row);
    },
    async hold(triggerId, transaction) {
      writer.require(transaction);
      const row = current.get(triggerId);
      return row && triggerOf(row);
    },
    async change(triggerId, change, transaction) {
      writer.require(transaction);
      const row = current.get(triggerId);
      const changed = row && change(triggerOf(row));
      if (changed !== undefined) update.run(...triggerColumns(changed));
      return changed;
    },
    async remove(tenancy, triggerId, transaction) {
      writer.require(transaction);
      const row = owned.get(triggerId, tenancy.tenant, tenancy.mode);
      if (row === undefined) return ABSENT;
      const value = triggerOf(row);
      if (!reachesTrigger(tenancy, value)) return OTHER_WORKSPACE;
      remove.run(triggerId);
      return { kind: 'found', value };
    },
    page: async ({ after, limit }) => page.all(after, limit).map(triggerOf),
    dueSchedules: async (now, limit) => dueSchedules.all(now, limit).map(triggerOf),
    activeQueues: async ({ after, limit }) => activeQueues.all(after, limit).map(triggerOf),
  };
}

const KNOWN = 'SELECT * FROM trigger_messages WHERE trigger_id = ? AND dedup_key = ?';
const FORGET = 'DELETE FROM trigger_messages WHERE trigger_id = ? AND dedup_key = ?';
const TAKE = 'INSERT INTO trigger_messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
const SETTLE = `UPDATE trigger_messages SET outcome = ?, attempts = ?, received_at = ?, updated_at = ?, expires_at = ?,
  next_attempt_at = ?, run_id = ?, problem = ?, document = CASE WHEN ? = 'delivered' THEN NULL ELSE document END
  WHERE trigger_id = ? AND dedup_key = ? AND delivery_id = ? AND outcome = ? AND attempts = ?`;
const MESSAGES = `SELECT ${LISTED_COLUMNS} FROM trigger_messages WHERE trigger_id = ?1 AND (?2 IS NULL OR delivery_id < ?2)
  AND expires_at > ?3 ORDER BY delivery_id DESC LIMIT ?4`;
const OF_OUTCOME = `SELECT ${LISTED_COLUMNS} FROM trigger_messages WHERE trigger_id = ?1 AND (?2 IS NULL OR delivery_id < ?2)
  AND expires_at > ?3 AND outcome = ?5 AND outcome <> 'delivered' ORDER BY delivery_id DESC LIMIT ?4`;
const WAITING = `SELECT count(*) AS count FROM
  (SELECT 1 FROM trigger_messages WHERE trigger_id = ? AND outcome = 'retrying' AND outcome <> 'delivered' LIMIT ?)`;
const KNOWN_UNTIL = `SELECT ${LISTED_COLUMNS} FROM trigger_messages
  WHERE trigger_id = ? AND dedup_key = ? AND expires_at > ?`;
const TRIM = `DELETE FROM trigger_messages WHERE rowid IN (SELECT rowid FROM trigger_messages
  WHERE trigger_id = ?1 AND outcome = 'dead-lettered' AND outcome <> 'delivered'
    AND delivery_id <= (SELECT delivery_id FROM trigger_messages
      WHERE trigger_id = ?1 AND outcome = 'dead-lettered' AND outcome <> 'delivered'
      ORDER BY delivery_id DESC LIMIT 1 OFFSET ?2)
  ORDER BY delivery_id LIMIT 500)`;
const BACKLOG = `SELECT
  (SELECT count(*) FROM (SELECT 1 FROM trigger_messages WHERE next_attempt_at IS NOT NULL LIMIT ?1)) AS waiting,
  (SELECT count(*) FROM (SELECT 1 FROM trigger_messages
    WHERE outcome = 'dead-lettered' AND outcome <> 'delivered' LIMIT ?1)) AS dead_letters`;
const DUE = `SELECT m.* FROM trigger_messages m JOIN triggers t USING (trigger_id)
  WHERE m.next_attempt_at IS NOT NULL AND (m.next_attempt_at <= ? OR m.next_attempt_at > ?)
    AND t.state <> 'paused' AND t.removed = 0
  ORDER BY m.next_attempt_at LIMIT ?`;
const SWEEP_EXPIRED = `DELETE FROM trigger_messages WHERE rowid IN
  (SELECT rowid FROM trigger_messages WHERE expires_at <= ? LIMIT ?)`;
const SWEEP_REMOVED = `DELETE FROM trigger_messages WHERE rowid IN (SELECT m.rowid FROM trigger_messages m
  JOIN triggers t USING (trigger_id) WHERE t.removed = 1 LIMIT ?)`;
const SWEEP_TRIGGERS = `DELETE FROM triggers WHERE removed = 1
  AND NOT EXISTS (SELECT 1 FROM trigger_messages m WHERE m.trigger_id = triggers.trigger_id)`;

const SWEEP_PLACES = `DELETE FROM trigger_places WHERE NOT EXISTS
  (SELECT 1 FROM triggers t WHERE t.trigger_id = trigger_places.trigger_id)`;

function messagesOf(reader: DatabaseSync, database: DatabaseSync, writer: Writer): Pick<TriggerStore, Messages> {
  const known = database.prepare(KNOWN);
  const forget = database.prepare(FORGET);
  const take = database.prepare(TAKE);
  const settle = database.prepare(SETTLE);
  const sweepExpired = database.prepare(SWEEP_EXPIRED);
  const sweepRemoved = database.prepare(SWEEP_REMOVED);
  const sweepTriggers = database.prepare(SWEEP_TRIGGERS);
  const sweepPlaces = database.prepare(SWEEP_PLACES);
  const messages = reader.prepare(MESSAGES);
  const ofOutcome = reader.prepare(OF_OUTCOME);
  const waiting = reader.prepare(WAITING);
  const due = reader.prepare(DUE);
  const knownUntil = reader.prepare(KNOWN_UNTIL);
  const backlog = reader.prepare(BACKLOG);
  const trim = database.prepare(TRIM);

  return {
    async take(message, transaction) {
      writer.require(transaction);
      const { triggerId, dedupKey } = message;
      const row = known.get(triggerId, dedupKey);
      if (row !== undefined) {
        const before = messageOf(row);
        if (before.expiresAt > message.receivedAt) return before;
        forget.run(triggerId, dedupKey);
      }
      take.run(...messageColumns(message));
      return undefined;
    },
    async settle(before, after, transaction) {
      writer.require(transaction);
      const { triggerId, dedupKey, deliveryId, outcome, attempts } = before;
      const key = [triggerId, dedupKey, deliveryId, outcome, attempts] as const;
      return settle.run(...changingColumns(after), after.outcome, ...key).changes > 0;
    },
    async messages(triggerId, { before = null, now, limit, outcome }) {
      if (outcome === undefined) return messages.all(triggerId, before, now, limit).map(messageOf);
      return ofOutcome.all(triggerId, before, now, limit, outcome).map(messageOf);
    },
    countWaiting: async (triggerId, limit) => integer(waiting.get(triggerId, limit) ?? {}, 'count'),
    async known(triggerId, dedupKey, now) {
      const row = knownUntil.get(triggerId, dedupKey, now);
      return row && messageOf(row);
    },
    async trimDeadLetters(triggerId, most, transaction) {
      writer.require(transaction);
      return Number(trim.run(triggerId, most).changes);
    },
    async backlog(limit) {
      const row = backlog.get(limit) ?? {};
      return { waiting: integer(row, 'waiting'), deadLetters: integer(row, 'dead_letters') };
    },
    due: async (now, limit) => due.all(now, now + LONGEST_MESSAGE_WAIT_MS, limit).map(messageOf),
    sweep: (now, limit) =>
      writer.transaction(async () => {
        const expired = Number(sweepExpired.run(now, limit).changes);
        const removed = expired < limit ? Number(sweepRemoved.run(limit - expired).changes) : 0;
        if (expired + removed < limit && sweepTriggers.run().changes > 0) sweepPlaces.run();
        return expired + removed;
      }),
  };
}
