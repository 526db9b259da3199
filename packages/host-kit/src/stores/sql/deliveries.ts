import type {
  CountedDeadLetters,
  DeadLetter,
  DeadLetterCount,
  DeadLetterCursor,
  Delivery,
  QueuedDelivery,
  WaitingDelivery,
} from '../../ports/deliveries.ts';
import { bytes, integer, optional, type Row, text } from './row.ts';

export function deliveryOf(row: Row): Delivery {
  return {
    deliveryId: text(row, 'delivery_id'),
    webhookId: text(row, 'webhook_id'),
    runId: text(row, 'run_id'),
    eventId: text(row, 'event_id'),
    sequence: integer(row, 'sequence'),
    eventType: text(row, 'event_type'),
    body: bytes(row, 'body'),
    attempts: integer(row, 'attempts'),
    dueAt: integer(row, 'due_at'),
  };
}

export function deadLetterOf(row: Row): DeadLetter {
  return {
    deliveryId: text(row, 'delivery_id'),
    webhookId: text(row, 'webhook_id'),
    runId: text(row, 'run_id'),
    eventId: text(row, 'event_id'),
    eventType: text(row, 'event_type'),
    attempts: integer(row, 'attempts'),
    deadLetteredAt: integer(row, 'dead_at'),
    expiresAt: integer(row, 'due_at'),
    lastStatus: optional(row, 'last_status', integer),
  };
}

/** Reads a row of any state. Needs every column but `body`. */
export function queuedOf(row: Row): QueuedDelivery {
  const { body: _, dueAt, ...delivery } = deliveryOf({ ...row, body: NO_BODY });
  const lastStatus = optional(row, 'last_status', integer);
  if (text(row, 'state') !== 'dead') return { ...delivery, lastStatus, state: 'waiting', dueAt };
  return { ...delivery, lastStatus, state: 'dead', deadLetteredAt: integer(row, 'dead_at'), expiresAt: dueAt };
}

export function waitingOf(row: Row): WaitingDelivery {
  const { body: _, ...delivery } = deliveryOf({ ...row, body: NO_BODY });
  const lastStatus = optional(row, 'last_status', integer);
  return { ...delivery, lastStatus, state: 'waiting', position: integer(row, 'position') };
}

const NO_BODY = new Uint8Array();

/** The columns of a delivery that a list reads. */
export const LISTED =
  'position, delivery_id, webhook_id, run_id, event_id, sequence, event_type, attempts, state, due_at, dead_at, last_status';

/**
 * The columns of a count of dead letters. Each row is a group of those that were looked at, with the number of the selected
 * ones and with the last one: `looked` has the columns below, and `step` is the length of a step in ms.
 */
export function countedColumns(selected: string, step: string): string {
  return `event_type, status, dead_at - dead_at % ${step} AS at, count(*) AS looked_at,
    count(*) FILTER (WHERE ${selected}) AS selected, min(dead_at) AS last_at,
    min(delivery_id) FILTER (WHERE dead_at = (SELECT min(dead_at) FROM looked)) AS last_id`;
}

/** The columns of `looked`. */
export const LOOKED = 'event_type, coalesce(last_status, 0) AS status, dead_at, delivery_id';

/** Reads the groups of a count that looked at up to `limit` dead letters. */
export function countedOf(rows: readonly Row[], limit: number): CountedDeadLetters {
  let lookedAt = 0;
  let last: DeadLetterCursor | undefined;
  const counts: DeadLetterCount[] = [];
  for (const row of rows) {
    lookedAt += integer(row, 'looked_at');
    const deliveryId = optional(row, 'last_id', text);
    if (deliveryId !== undefined && (last === undefined || deliveryId < last.deliveryId)) {
      last = { deadLetteredAt: integer(row, 'last_at'), deliveryId };
    }
    const count = integer(row, 'selected');
    if (count === 0) continue;
    counts.push({ eventType: text(row, 'event_type'), status: integer(row, 'status'), at: integer(row, 'at'), count });
  }
  return { counts, lookedAt, last: lookedAt < limit ? undefined : last };
}
