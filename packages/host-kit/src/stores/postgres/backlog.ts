import type { BacklogStore } from '../../ports/backlog.ts';
import { integer, optional } from '../sql/row.ts';
import type { Database } from './database.ts';

// Steps along the index from subscription to subscription, so that the cost does not depend on the length of a backlog.
const ALL = `WITH RECURSIVE named AS (
    (SELECT tenant, webhook_id FROM deliveries WHERE state = 'waiting' ORDER BY tenant, webhook_id LIMIT 1)
    UNION ALL
    SELECT next.tenant, next.webhook_id FROM named CROSS JOIN LATERAL (SELECT d.tenant, d.webhook_id FROM deliveries d
      WHERE d.state = 'waiting' AND (d.tenant, d.webhook_id) > (named.tenant, named.webhook_id)
      ORDER BY d.tenant, d.webhook_id LIMIT 1) AS next)`;
const NAMED = 'WITH named AS (SELECT webhook_id FROM unnest($3::text[]) AS n (webhook_id))';
const BACKLOG = `, delivering AS MATERIALIZED (
    SELECT s.tenant, s.webhook_id FROM named JOIN subscriptions s USING (webhook_id) WHERE s.status <> 'paused')
  SELECT
    (SELECT count(*) FROM (SELECT 1 FROM delivering s CROSS JOIN LATERAL (SELECT 1 FROM deliveries d
      WHERE d.state = 'waiting' AND d.tenant = s.tenant AND d.webhook_id = s.webhook_id AND d.due_at <= $1 LIMIT $2) AS d LIMIT $2) AS c) AS due,
    (SELECT min(first.due_at) FROM delivering s CROSS JOIN LATERAL (SELECT due_at FROM deliveries d
      WHERE d.state = 'waiting' AND d.tenant = s.tenant AND d.webhook_id = s.webhook_id AND d.due_at BETWEEN 1 AND $1
      ORDER BY due_at LIMIT 1) AS first) AS oldest`;
const OF_ALL = { name: 'backlog-of-all', text: ALL + BACKLOG };
const OF_NAMED = { name: 'backlog-of-named', text: NAMED + BACKLOG };

export function backlogStore(database: Database): BacklogStore {
  return {
    async read({ webhookIds, now, limit }) {
      const asked = webhookIds === undefined ? OF_ALL : OF_NAMED;
      const [row] = (await database.query(asked, [now, limit, ...(webhookIds === undefined ? [] : [[...webhookIds]])]))
        .rows;
      if (row === undefined) throw new Error('Backlog: PostgreSQL returned no row for a count.');
      return { due: integer(row, 'due'), oldestDueAt: optional(row, 'oldest', integer) };
    },
  };
}
