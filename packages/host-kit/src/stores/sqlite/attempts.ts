import type { DatabaseSync } from 'node:sqlite';
import { ATTEMPTS_KEPT, type AttemptLog } from '../../ports/attempts.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { attemptOf, phasesColumn } from '../sql/attempts.ts';
import { integer } from '../sql/row.ts';
import type { Writer } from './writer.ts';

// A subscription may have been removed during its attempt. Its attempts are not stored: nothing would delete them.
const INSERT = `INSERT OR REPLACE INTO attempts
  (webhook_id, slot, position, delivery_id, run_id, sequence, event_type, attempt, at, duration_us, outcome, status, reason,
   phases)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
  WHERE EXISTS (SELECT 1 FROM subscriptions WHERE webhook_id = ?1)`;
const LAST = 'SELECT coalesce(max(position), 0) AS position FROM attempts WHERE webhook_id = ?';
const LIST = 'SELECT * FROM attempts WHERE webhook_id = ? ORDER BY position DESC LIMIT ?';
const DROP = 'DELETE FROM attempts WHERE webhook_id = ?';

/**
 * The attempts of each subscription as a ring of `ATTEMPTS_KEPT` rows. A new attempt overwrites the oldest, so nothing
 * has to be pruned.
 */
export interface AttemptRings extends AttemptLog {
  /** Deletes the ring of a subscription, in the transaction that removes it. */
  drop(webhookId: string, transaction: Transaction): void;
}

export function attemptLog(reader: DatabaseSync, database: DatabaseSync, writer: Writer): AttemptRings {
  const insert = database.prepare(INSERT);
  const last = database.prepare(LAST);
  const drop = database.prepare(DROP);
  const list = reader.prepare(LIST);
  /**
   * Position of the newest attempt by subscription. A rolled-back attempt leaves a gap in the positions, which is
   * harmless.
   */
  const positions = new Map<string, number>();

  return {
    async record(attempts, transaction) {
      writer.require(transaction);
      for (const record of attempts) {
        const { webhookId, deliveryId, runId, sequence, eventType, attempt, at, durationMs, outcome } = record;
        const { status = null, reason = null } = record;
        const position = nextPosition(webhookId);
        const slot = position % ATTEMPTS_KEPT;
        const micros = Math.round(durationMs * 1000);
        const who = [webhookId, slot, position, deliveryId, runId, sequence, eventType] as const;
        insert.run(...who, attempt, at, micros, outcome, status, reason, phasesColumn(record));
      }
    },
    async list(webhookId, limit) {
      return list.all(webhookId, Math.min(limit, ATTEMPTS_KEPT)).map(attemptOf);
    },
    drop(webhookId, transaction) {
      writer.require(transaction);
      drop.run(webhookId);
      positions.delete(webhookId);
    },
  };

  function nextPosition(webhookId: string): number {
    const newest = positions.get(webhookId) ?? integer(last.get(webhookId) ?? {}, 'position');
    if (positions.size > MAX_POSITIONS) positions.clear();
    positions.set(webhookId, newest + 1);
    return newest + 1;
  }
}

const MAX_POSITIONS = 20_000;
