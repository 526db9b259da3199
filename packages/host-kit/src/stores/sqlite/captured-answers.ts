import type { DatabaseSync } from 'node:sqlite';
import { ANSWERS_KEPT, type CapturedAnswers } from '../../ports/captured-answers.ts';
import { answerOf, capturedOf } from '../sql/captured-answers.ts';
import type { Writer } from './writer.ts';

// A subscription may have been removed during its attempt.
const ADD = `INSERT INTO captured_answers (webhook_id, delivery_id, attempt, at, expires_at, sealed)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM subscriptions WHERE webhook_id = ?1)`;
const PRUNE = `DELETE FROM captured_answers WHERE webhook_id = ?1 AND position <= (SELECT position FROM captured_answers
  WHERE webhook_id = ?1 ORDER BY position DESC LIMIT 1 OFFSET ${ANSWERS_KEPT})`;
const LIST = 'SELECT * FROM captured_answers WHERE webhook_id = ? AND delivery_id = ? ORDER BY position DESC';
const SWEEP = `DELETE FROM captured_answers WHERE position IN
  (SELECT position FROM captured_answers WHERE expires_at <= ? LIMIT ?)`;
const PAGE = 'SELECT * FROM captured_answers WHERE position > ? ORDER BY position LIMIT ?';
const RESEAL = 'UPDATE captured_answers SET sealed = ? WHERE position = ?';

export function capturedAnswers(reader: DatabaseSync, database: DatabaseSync, writer: Writer): CapturedAnswers {
  const add = database.prepare(ADD);
  const prune = database.prepare(PRUNE);
  const sweep = database.prepare(SWEEP);
  const reseal = database.prepare(RESEAL);
  const list = reader.prepare(LIST);
  const page = reader.prepare(PAGE);

  return {
    async add(answers, transaction) {
      writer.require(transaction);
      for (const { webhookId, deliveryId, attempt, at, expiresAt, sealed } of answers) {
        add.run(webhookId, deliveryId, attempt, at, expiresAt, sealed);
      }
      for (const webhookId of new Set(answers.map((answer) => answer.webhookId))) prune.run(webhookId);
    },
    list: async (webhookId, deliveryId) => list.all(webhookId, deliveryId).map(capturedOf),
    sweep: (now, limit) => writer.transaction(async () => Number(sweep.run(now, limit).changes)),
    page: async ({ after, limit }) => page.all(after, limit).map(answerOf),
    async reseal({ position }, sealed, transaction) {
      writer.require(transaction);
      reseal.run(sealed, position);
    },
  };
}
