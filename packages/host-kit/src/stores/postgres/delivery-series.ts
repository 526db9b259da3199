import type { DeliverySeries } from '../../ports/delivery-series.ts';
import { COUNTS, countColumns, pointOf } from '../sql/delivery-series.ts';
import type { Database } from './database.ts';

const ADD = {
  name: 'delivery-series-add',
  text: `INSERT INTO delivery_minutes AS stored (writer, webhook_id, minute, ${COUNTS.join(', ')})
    SELECT $1, webhook_id, minute, ${COUNTS.join(', ')}
    FROM unnest($2::text[], $3::bigint[], ${COUNTS.map((_, index) => `$${index + 4}::bigint[]`).join(', ')})
      WITH ORDINALITY AS added (webhook_id, minute, ${COUNTS.join(', ')}, n) ORDER BY n
    ON CONFLICT (webhook_id, minute, writer)
    DO UPDATE SET ${COUNTS.map((name) => `${name} = stored.${name} + excluded.${name}`).join(', ')}`,
};
const READ = {
  name: 'delivery-series-read',
  text: `SELECT (minute - $1) / $3::bigint AS step, ${COUNTS.map((name) => `sum(${name})::bigint AS ${name}`).join(', ')}
    FROM delivery_minutes WHERE webhook_id = ANY ($4::text[]) AND minute >= $1 AND minute < $2
    GROUP BY step ORDER BY step`,
};
const SWEEP = {
  name: 'delivery-series-sweep',
  text: `DELETE FROM delivery_minutes WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM delivery_minutes WHERE minute < $1 ORDER BY minute LIMIT $2 FOR UPDATE SKIP LOCKED))`,
};

/** @param writer the name of this host, unique among those that share the database */
export function deliverySeries(database: Database, writer: string): DeliverySeries {
  return {
    async add(minutes, transaction) {
      if (minutes.length === 0) return;
      const counts = minutes.map(countColumns);
      await database.within(transaction, ADD, [
        writer,
        minutes.map(({ webhookId }) => webhookId),
        minutes.map(({ minute }) => minute),
        ...COUNTS.map((_, column) => counts.map((values) => values[column])),
      ]);
    },
    async read(webhookIds, { from, until, stepMs }) {
      const { rows } = await database.query(READ, [from, until, stepMs, [...webhookIds]]);
      return rows.map((row) => pointOf(row, { from, stepMs }));
    },
    async sweep(before, limit) {
      return (await database.query(SWEEP, [before, limit])).count;
    },
  };
}
