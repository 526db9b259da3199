import type { DatabaseSync } from 'node:sqlite';
import type { DeliverySeries, SeriesPoint } from '../../ports/delivery-series.ts';
import { COUNTS, countColumns, pointOf } from '../sql/delivery-series.ts';
import type { WriteJournal } from './write-journal.ts';
import type { Writer } from './writer.ts';

// Numbers are bound as floating point, and the number of a step is whole.
const READ = `SELECT (minute - CAST(?1 AS INTEGER)) / CAST(?3 AS INTEGER) AS step, ${COUNTS.map((name) => `sum(${name}) AS ${name}`).join(', ')}
  FROM delivery_minutes WHERE webhook_id IN (SELECT value FROM json_each(?4)) AND minute >= ?1 AND minute < ?2
  GROUP BY step ORDER BY step`;
const SWEEP = `DELETE FROM delivery_minutes WHERE (minute, webhook_id) IN
  (SELECT minute, webhook_id FROM delivery_minutes WHERE minute < ? ORDER BY minute LIMIT ?)`;

export function deliverySeries(
  reader: DatabaseSync,
  database: DatabaseSync,
  writer: Writer,
  journal: WriteJournal,
): DeliverySeries {
  const sweep = database.prepare(SWEEP);
  const read = reader.prepare(READ);

  return {
    async add(minutes, transaction) {
      const columns = minutes.map((counted) => [counted.minute, counted.webhookId, ...countColumns(counted)] as const);
      if (columns.length > 0) journal.add({ kind: 'minutes', minutes: columns }, transaction);
    },
    async read(webhookIds, { from, until, stepMs }): Promise<readonly SeriesPoint[]> {
      await journal.flush();
      const rows = read.all(from, until, stepMs, JSON.stringify(webhookIds));
      return rows.map((row) => pointOf(row, { from, stepMs }));
    },
    sweep: (before, limit) => writer.transaction(async () => Number(sweep.run(before, limit).changes)),
  };
}
