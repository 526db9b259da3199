import { ATTEMPTS_KEPT, type AttemptLog } from '../../ports/attempts.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { attemptOf, phasesColumn } from '../sql/attempts.ts';
import type { Database } from './database.ts';

// A subscription may have been removed during its attempt. Its attempts are not stored: nothing would delete them.
const INSERT = {
  name: 'attempts-insert',
  text: `INSERT INTO attempts
    (webhook_id, delivery_id, run_id, sequence, event_type, attempt, at, duration_us, outcome, status, reason, phases)
    SELECT webhook_id, delivery_id, run_id, sequence, event_type, attempt, at, duration_us, outcome, status, reason,
      phases
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::integer[], $7::bigint[], $8::bigint[],
      $9::text[], $10::integer[], $11::text[], $12::text[]) WITH ORDINALITY
      AS a (webhook_id, delivery_id, run_id, sequence, event_type, attempt, at, duration_us, outcome, status, reason,
        phases, n)
    WHERE EXISTS (SELECT 1 FROM subscriptions AS s WHERE s.webhook_id = a.webhook_id) ORDER BY n`,
};
const PRUNE = {
  name: 'attempts-prune',
  text: `DELETE FROM attempts WHERE position IN (
    SELECT old.position FROM unnest($1::text[]) AS w (webhook_id) CROSS JOIN LATERAL (
      SELECT position FROM attempts WHERE webhook_id = w.webhook_id ORDER BY position DESC OFFSET ${ATTEMPTS_KEPT}
      FOR UPDATE SKIP LOCKED) AS old)`,
};
const LIST = {
  name: 'attempts-list',
  text: 'SELECT * FROM attempts WHERE webhook_id = $1 ORDER BY position DESC LIMIT $2',
};

// Skips rows that another transaction is pruning: that transaction may wait for this subscription next, which would be
// a deadlock.
const DROP = {
  name: 'attempts-drop',
  text: `DELETE FROM attempts WHERE position IN (
    SELECT position FROM attempts WHERE webhook_id = $1 FOR UPDATE SKIP LOCKED)`,
};
// Steps along the index from subscription to subscription.
const SWEEP_LEFT = {
  name: 'attempts-sweep-left',
  text: `WITH RECURSIVE w AS (
      (SELECT webhook_id FROM attempts ORDER BY webhook_id LIMIT 1)
      UNION ALL
      SELECT (SELECT a.webhook_id FROM attempts a WHERE a.webhook_id > w.webhook_id ORDER BY a.webhook_id LIMIT 1)
      FROM w WHERE w.webhook_id IS NOT NULL)
    DELETE FROM attempts WHERE position IN (
      SELECT a.position FROM w CROSS JOIN LATERAL (SELECT position FROM attempts
        WHERE webhook_id = w.webhook_id LIMIT $1 FOR UPDATE SKIP LOCKED) AS a
      WHERE NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.webhook_id = w.webhook_id) LIMIT $1)`,
};

export interface SharedAttempts extends AttemptLog {
  /** Deletes the attempts of a subscription, in the transaction that removes it. */
  drop(webhookId: string, transaction: Transaction): Promise<void>;
  /**
   * Deletes up to `limit` attempts that were written while their subscription was being removed. Returns how many it
   * deleted.
   */
  sweep(limit: number): Promise<number>;
}

export function attemptLog(database: Database): SharedAttempts {
  /** Number of inserts since the last pruning, by subscription. Pruning after each insert would double its cost. */
  const sincePrune = new Map<string, number>();

  return {
    async record(attempts, transaction) {
      if (attempts.length === 0) return;
      await database.within(transaction, INSERT, [
        attempts.map(({ webhookId }) => webhookId),
        attempts.map(({ deliveryId }) => deliveryId),
        attempts.map(({ runId }) => runId),
        attempts.map(({ sequence }) => sequence),
        attempts.map(({ eventType }) => eventType),
        attempts.map(({ attempt }) => attempt),
        attempts.map(({ at }) => at),
        attempts.map(({ durationMs }) => Math.round(durationMs * 1000)),
        attempts.map(({ outcome }) => outcome),
        attempts.map(({ status }) => status ?? null),
        attempts.map(({ reason }) => reason ?? null),
        attempts.map(phasesColumn),
      ]);
      const full = [...new Set(attempts.map(({ webhookId }) => webhookId).filter(countInsert))];
      if (full.length > 0) await database.within(transaction, PRUNE, [full]);
    },
    async list(webhookId, limit) {
      return (await database.query(LIST, [webhookId, Math.min(limit, ATTEMPTS_KEPT)])).rows.map(attemptOf);
    },
    async drop(webhookId, transaction) {
      await database.within(transaction, DROP, [webhookId]);
    },
    sweep: async (limit) => (await database.query(SWEEP_LEFT, [limit])).count,
  };

  /** Counts an insert. Returns true when the subscription is to be pruned. */
  function countInsert(webhookId: string): boolean {
    const count = (sincePrune.get(webhookId) ?? PRUNE_EVERY) + 1;
    if (sincePrune.size > MOST_COUNTED) sincePrune.clear();
    sincePrune.set(webhookId, count > PRUNE_EVERY ? 0 : count);
    return count > PRUNE_EVERY;
  }
}

const PRUNE_EVERY = 50;
const MOST_COUNTED = 10_000;
