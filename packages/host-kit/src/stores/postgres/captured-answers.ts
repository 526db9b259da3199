import { ANSWERS_KEPT, type CapturedAnswers } from '../../ports/captured-answers.ts';
import { answerOf, capturedOf } from '../sql/captured-answers.ts';
import type { Database } from './database.ts';

// A subscription may have been removed during its attempt. One that is being removed is waited for: the foreign key would
// otherwise fail the settlements of a whole transaction. The order is that of `updateState`.
const ADD = {
  name: 'captured-answers-add',
  text: `WITH present AS MATERIALIZED (
      SELECT webhook_id FROM subscriptions WHERE webhook_id = ANY ($1::text[]) ORDER BY webhook_id FOR KEY SHARE)
    INSERT INTO captured_answers (webhook_id, delivery_id, attempt, at, expires_at, sealed)
    SELECT webhook_id, delivery_id, attempt, at, expires_at, sealed
    FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[], $6::bytea[]) WITH ORDINALITY
      AS a (webhook_id, delivery_id, attempt, at, expires_at, sealed, n)
    WHERE webhook_id IN (SELECT webhook_id FROM present) ORDER BY n`,
};
// Skips rows that another transaction deletes: it may wait for this one. Locks the deleted rows alone: with an OFFSET, the
// lock would be written into each of the rows that are kept, at each answer.
const PRUNE = {
  name: 'captured-answers-prune',
  text: `DELETE FROM captured_answers WHERE position IN (
    SELECT old.position FROM unnest($1::text[]) AS w (webhook_id) CROSS JOIN LATERAL (
      SELECT position FROM captured_answers WHERE webhook_id = w.webhook_id AND position <= (
        SELECT position FROM captured_answers WHERE webhook_id = w.webhook_id
        ORDER BY position DESC OFFSET ${ANSWERS_KEPT} LIMIT 1)
      FOR UPDATE SKIP LOCKED) AS old)`,
};
const LIST = {
  name: 'captured-answers-list',
  text: 'SELECT * FROM captured_answers WHERE webhook_id = $1 AND delivery_id = $2 ORDER BY position DESC',
};
const SWEEP = {
  name: 'captured-answers-sweep',
  text: `DELETE FROM captured_answers WHERE position IN (
    SELECT position FROM captured_answers WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};
const PAGE = {
  name: 'captured-answers-page',
  text: 'SELECT * FROM captured_answers WHERE position > $1 ORDER BY position LIMIT $2',
};
const RESEAL = { name: 'captured-answers-reseal', text: 'UPDATE captured_answers SET sealed = $1 WHERE position = $2' };

export function capturedAnswers(database: Database): CapturedAnswers {
  return {
    async add(answers, transaction) {
      if (answers.length === 0) return;
      await database.within(transaction, ADD, [
        answers.map(({ webhookId }) => webhookId),
        answers.map(({ deliveryId }) => deliveryId),
        answers.map(({ attempt }) => attempt),
        answers.map(({ at }) => at),
        answers.map(({ expiresAt }) => expiresAt),
        answers.map(({ sealed }) => Buffer.from(sealed)),
      ]);
      await database.within(transaction, PRUNE, [[...new Set(answers.map(({ webhookId }) => webhookId))]]);
    },
    async list(webhookId, deliveryId) {
      return (await database.query(LIST, [webhookId, deliveryId])).rows.map(capturedOf);
    },
    async sweep(now, limit) {
      return (await database.query(SWEEP, [now, limit])).count;
    },
    async page({ after, limit }) {
      return (await database.query(PAGE, [after, limit])).rows.map(answerOf);
    },
    async reseal({ position }, sealed, transaction) {
      await database.within(transaction, RESEAL, [Buffer.from(sealed), position]);
    },
  };
}
