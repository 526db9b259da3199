import type { DatabaseSync } from 'node:sqlite';
import { COUNTS } from '../sql/delivery-series.ts';
import { MOVING_COLUMNS } from '../sql/runs.ts';
import type { MinuteColumns } from './journal-rows.ts';
import type { PendingWrites } from './pending-writes.ts';

// A row that is there already was written by another process: the append has looked for one.
const EVENT = `INSERT INTO events
  (run_id, sequence, event_id, type, timestamp, payload, schema_version, engine_version, node_id, causation_id, position)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
// A table with a later sequence was written after the entry of the journal.
const MOVE = `UPDATE runs SET ${MOVING_COLUMNS.map((column) => `${column} = ?`).join(', ')}
  WHERE run_id = ? AND last_sequence < ?`;
// The subscription may have been removed since.
const DELIVERY = `INSERT INTO deliveries
  (position, delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts, state, due_at)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'waiting', ?10
  WHERE EXISTS (SELECT 1 FROM subscriptions WHERE webhook_id = ?3)`;
const MINUTE = `INSERT INTO delivery_minutes (minute, webhook_id, ${COUNTS.join(', ')})
  VALUES (?, ?, ${COUNTS.map(() => '?').join(', ')})
  ON CONFLICT DO UPDATE SET ${COUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`;
const EMPTY = 'DELETE FROM write_journal';
const FORGET = 'DELETE FROM write_journal WHERE id = ?';
// A settlement is needed as long as a row before it has deliveries.
const FORGET_APPLIED = `DELETE FROM write_journal WHERE id < ? OR kind NOT IN ('deliveries', 'settled')`;

/**
 * Makes a function that writes the content of the journal to the tables, but `kept`, and deletes it from the journal, in
 * the open transaction. Rows that lie together are written one after another.
 */
export function applying(database: DatabaseSync): (pending: PendingWrites, kept: PendingWrites) => void {
  const event = database.prepare(EVENT);
  const move = database.prepare(MOVE);
  const delivery = database.prepare(DELIVERY);
  const minute = database.prepare(MINUTE);
  const empty = database.prepare(EMPTY);
  const forget = database.prepare(FORGET);
  const forgetApplied = database.prepare(FORGET_APPLIED);

  return (pending, kept) => {
    for (const columns of [...pending.events].sort(byRun)) event.run(...columns);
    for (const [runId, state] of pending.moves) move.run(...state, runId, state[0]);
    for (const [position, waiting] of [...pending.deliveries].sort(([one], [other]) => one - other)) {
      if (kept.deliveries.has(position)) continue;
      const { deliveryId, webhookId, runId, eventId, sequence, eventType, body, attempts, dueAt } = waiting.delivery;
      delivery.run(position, deliveryId, webhookId, runId, eventId, sequence, eventType, body, attempts, dueAt);
    }
    for (const columns of summed(pending.minutes)) minute.run(...columns);
    const [firstKept] = kept.deliveryRows.keys();
    if (firstKept === undefined) {
      empty.run();
      return;
    }
    forgetApplied.run(firstKept);
    for (const id of pending.deliveryRows.keys()) if (id > firstKept && !kept.deliveryRows.has(id)) forget.run(id);
  };
}

function byRun(
  [one, sequence]: readonly [string, number, ...unknown[]],
  [other, otherSequence]: readonly [string, number, ...unknown[]],
) {
  if (one === other) return sequence - otherSequence;
  return one < other ? -1 : 1;
}

/** Adds up the counts of each subscription and minute. */
function summed(minutes: readonly MinuteColumns[]): Iterable<MinuteColumns> {
  const sums = new Map<string, [number, string, ...number[]]>();
  for (const [minute, webhookId, ...counts] of minutes) {
    const key = `${minute} ${webhookId}`;
    const [, , ...before] = sums.get(key) ?? [minute, webhookId];
    sums.set(key, [minute, webhookId, ...counts.map((count, index) => count + (before[index] ?? 0))]);
  }
  return sums.values();
}
