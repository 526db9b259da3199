import type { DeadLetter, Delivery, QueuedDelivery, WaitingDelivery } from '../../ports/deliveries.ts';
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
