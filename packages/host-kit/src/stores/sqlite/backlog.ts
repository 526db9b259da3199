import type { DatabaseSync } from 'node:sqlite';
import type { BacklogStore } from '../../ports/backlog.ts';
import { integer, optional } from '../sql/row.ts';
import type { WriteJournal } from './write-journal.ts';

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
export function backlogStore(
  reader: DatabaseSync,
  journal: Pick<WriteJournal, 'unflushed'>,
  claimed: () => readonly number[],
): BacklogStore {
  const delivers = reader.prepare("SELECT 1 FROM subscriptions WHERE webhook_id = ? AND status <> 'paused'");
  const ofAll = reader.prepare(ALL + BACKLOG);
  const ofNamed = reader.prepare(NAMED + BACKLOG);

  return {
    async read({ webhookIds, now, limit }) {
      const unflushed = await journal.unflushed();
      const named = webhookIds === undefined ? null : JSON.stringify(webhookIds);
      const positions = claimed();
      const row = (named === null ? ofAll : ofNamed).get(now, limit, named, JSON.stringify(positions));
      if (row === undefined) throw new Error('Backlog: SQLite returned no row for a count.');
      const counted = { due: integer(row, 'due'), oldestDueAt: optional(row, 'oldest', integer) };
      const waiting = unflushed.filter(
        ({ position, delivery: { webhookId, dueAt } }) =>
          dueAt <= now &&
          !positions.includes(position) &&
          (webhookIds?.includes(webhookId) ?? true) &&
          delivers.get(webhookId) !== undefined,
      );
      if (waiting.length === 0) return counted;
      const dueAt = [counted.oldestDueAt ?? now, ...waiting.map(({ delivery }) => delivery.dueAt)];
      return { due: Math.min(counted.due + waiting.length, limit), oldestDueAt: Math.min(...dueAt) };
    },
  };
}
