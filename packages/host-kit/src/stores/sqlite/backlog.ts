import type { DatabaseSync } from 'node:sqlite';
import type { BacklogStore } from '../../ports/backlog.ts';
import { integer, optional } from '../sql/row.ts';

// Steps along the index from subscription to subscription, so that the cost does not depend on the length of a backlog.
const ALL = `WITH RECURSIVE named (webhook_id) AS (
    SELECT min(webhook_id) FROM deliveries INDEXED BY deliveries_waiting WHERE state = 'waiting'
    UNION ALL
    SELECT (SELECT min(d.webhook_id) FROM deliveries AS d INDEXED BY deliveries_waiting
      WHERE d.state = 'waiting' AND d.webhook_id > named.webhook_id) FROM named WHERE named.webhook_id IS NOT NULL)`;
const NAMED = 'WITH named (webhook_id) AS (SELECT value FROM json_each(?3))';
const BACKLOG = `, delivering AS MATERIALIZED (
    SELECT named.webhook_id FROM named JOIN subscriptions AS s USING (webhook_id) WHERE s.status <> 'paused'),
  claimed (position) AS MATERIALIZED (SELECT value FROM json_each(?4))
  SELECT
    (SELECT count(*) FROM (SELECT 1 FROM delivering AS s CROSS JOIN deliveries AS d INDEXED BY deliveries_waiting
      WHERE d.state = 'waiting' AND d.webhook_id = s.webhook_id AND d.due_at <= ?1
        AND d.position NOT IN claimed LIMIT ?2)) AS due,
    (SELECT min(first) FROM (SELECT (SELECT d.due_at FROM deliveries AS d INDEXED BY deliveries_waiting
      WHERE d.state = 'waiting' AND d.webhook_id = s.webhook_id AND d.due_at <= ?1
        AND d.position NOT IN claimed ORDER BY d.due_at LIMIT 1) AS first FROM delivering AS s)) AS oldest`;

/** @param claimed returns the positions of claimed deliveries, which are stored as waiting but do not count */
export function backlogStore(reader: DatabaseSync, claimed: () => readonly number[]): BacklogStore {
  const ofAll = reader.prepare(ALL + BACKLOG);
  const ofNamed = reader.prepare(NAMED + BACKLOG);

  return {
    async read({ webhookIds, now, limit }) {
      const named = webhookIds === undefined ? null : JSON.stringify(webhookIds);
      const row = (named === null ? ofAll : ofNamed).get(now, limit, named, JSON.stringify(claimed()));
      if (row === undefined) throw new Error('Backlog: SQLite returned no row for a count.');
      return { due: integer(row, 'due'), oldestDueAt: optional(row, 'oldest', integer) };
    },
  };
}
