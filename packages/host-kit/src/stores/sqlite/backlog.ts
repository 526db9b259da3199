import type { DatabaseSync } from 'node:sqlite';
import type { BacklogStore } from '../../webhooks/backlog-store.ts';
import { integer, optional } from '../sql/row.ts';

// Steps from subscription to subscription along the index, however long the backlog of each.
const ALL = `WITH RECURSIVE named (webhook_id) AS (
    SELECT min(webhook_id) FROM deliveries INDEXED BY deliveries_waiting WHERE state = 'waiting'
    UNION ALL
    SELECT (SELECT min(d.webhook_id) FROM deliveries AS d INDEXED BY deliveries_waiting
      WHERE d.state = 'waiting' AND d.webhook_id > named.webhook_id) FROM named WHERE named.webhook_id IS NOT NULL)`;
const NAMED = 'WITH named (webhook_id) AS (SELECT value FROM json_each(?3))';
const BACKLOG = `, delivering AS MATERIALIZED (
    SELECT named.webhook_id FROM named JOIN subscriptions AS s USING (webhook_id) WHERE s.status <> 'paused')
  SELECT
    (SELECT count(*) FROM (SELECT 1 FROM delivering AS s CROSS JOIN deliveries AS d INDEXED BY deliveries_waiting
      WHERE d.state = 'waiting' AND d.webhook_id = s.webhook_id AND d.due_at <= ?1 LIMIT ?2)) AS due,
    (SELECT min(first) FROM (SELECT (SELECT d.due_at FROM deliveries AS d INDEXED BY deliveries_waiting
      WHERE d.state = 'waiting' AND d.webhook_id = s.webhook_id AND d.due_at BETWEEN 1 AND ?1
      ORDER BY d.due_at LIMIT 1) AS first FROM delivering AS s)) AS oldest`;

export function backlogStore(reader: DatabaseSync): BacklogStore {
  const ofAll = reader.prepare(ALL + BACKLOG);
  const ofNamed = reader.prepare(NAMED + BACKLOG);

  return {
    async read({ webhookIds, now, limit }) {
      const row =
        webhookIds === undefined ? ofAll.get(now, limit) : ofNamed.get(now, limit, JSON.stringify(webhookIds));
      if (row === undefined) throw new Error('SQLite counted nothing at all.');
      return { due: integer(row, 'due'), oldestDueAt: optional(row, 'oldest', integer) };
    },
  };
}
