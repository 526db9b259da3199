import { ATTEMPTS_KEPT, type AttemptLog } from '../../webhooks/attempt-log.ts';
import { attemptOf } from '../sql/attempt-row.ts';
import type { Database } from './database.ts';

// Of a subscription that has been removed meanwhile there is nothing to keep.
const INSERT = {
  name: 'attempts-insert',
  text: `INSERT INTO attempts
    (webhook_id, delivery_id, run_id, sequence, event_type, attempt, at, duration_us, outcome, status, reason)
    SELECT webhook_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM subscriptions WHERE webhook_id = $1
    FOR KEY SHARE`,
};
const PRUNE = {
  name: 'attempts-prune',
  text: `DELETE FROM attempts WHERE webhook_id = $1 AND position <= (
    SELECT position FROM attempts WHERE webhook_id = $1 ORDER BY position DESC LIMIT 1 OFFSET ${ATTEMPTS_KEPT})`,
};
const LIST = {
  name: 'attempts-list',
  text: 'SELECT * FROM attempts WHERE webhook_id = $1 ORDER BY position DESC LIMIT $2',
};

export function attemptLog(database: Database): AttemptLog {
  /** Inserts since the last look at what is too old: looking each time would cost as much as the insert. */
  const sincePrune = new Map<string, number>();

  return {
    async record(record, transaction) {
      const { webhookId, deliveryId, runId, sequence, eventType, attempt, at, durationMs, outcome } = record;
      const { status = null, reason = null } = record;
      const micros = Math.round(durationMs * 1000);
      const values = [webhookId, deliveryId, runId, sequence, eventType, attempt, at, micros, outcome, status, reason];
      await database.within(transaction, INSERT, values);
      const count = (sincePrune.get(webhookId) ?? ATTEMPTS_KEPT) + 1;
      if (count > PRUNE_EVERY) await database.within(transaction, PRUNE, [webhookId]);
      if (sincePrune.size > MOST_COUNTED) sincePrune.clear();
      sincePrune.set(webhookId, count > PRUNE_EVERY ? 0 : count);
    },
    async list(webhookId, limit) {
      return (await database.query(LIST, [webhookId, Math.min(limit, ATTEMPTS_KEPT)])).rows.map(attemptOf);
    },
  };
}

const PRUNE_EVERY = 50;
const MOST_COUNTED = 10_000;
