import type { DatabaseSync } from 'node:sqlite';
import { ATTEMPTS_KEPT, type AttemptLog } from '../../webhooks/attempt-log.ts';
import { attemptOf } from '../sql/attempt-row.ts';
import type { Writer } from './writer.ts';

// Of a subscription that has been removed meanwhile there is nothing to keep.
const INSERT = `INSERT INTO attempts
  (webhook_id, delivery_id, run_id, sequence, event_type, attempt, at, duration_us, outcome, status, reason)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 WHERE EXISTS (SELECT 1 FROM subscriptions WHERE webhook_id = ?1)`;
const PRUNE = `DELETE FROM attempts WHERE webhook_id = ?1 AND position <=
  (SELECT position FROM attempts WHERE webhook_id = ?1 ORDER BY position DESC LIMIT 1 OFFSET ${ATTEMPTS_KEPT})`;
const LIST = 'SELECT * FROM attempts WHERE webhook_id = ? ORDER BY position DESC LIMIT ?';

export function attemptLog(reader: DatabaseSync, database: DatabaseSync, writer: Writer): AttemptLog {
  const insert = database.prepare(INSERT);
  const prune = database.prepare(PRUNE);
  const list = reader.prepare(LIST);
  /** Inserts since the last look at what is too old: looking each time would cost as much as the insert. */
  const sincePrune = new Map<string, number>();

  return {
    async record(record, transaction) {
      writer.require(transaction);
      const { webhookId, deliveryId, runId, sequence, eventType, attempt, at, durationMs, outcome, status, reason } =
        record;
      const micros = Math.round(durationMs * 1000);
      insert.run(
        webhookId,
        deliveryId,
        runId,
        sequence,
        eventType,
        attempt,
        at,
        micros,
        outcome,
        status ?? null,
        reason ?? null,
      );
      const count = (sincePrune.get(webhookId) ?? ATTEMPTS_KEPT) + 1;
      if (count > PRUNE_EVERY) prune.run(webhookId);
      if (sincePrune.size > MOST_COUNTED) sincePrune.clear();
      sincePrune.set(webhookId, count > PRUNE_EVERY ? 0 : count);
    },
    async list(webhookId, limit) {
      return list.all(webhookId, Math.min(limit, ATTEMPTS_KEPT)).map(attemptOf);
    },
  };
}

const PRUNE_EVERY = 50;
const MOST_COUNTED = 10_000;
