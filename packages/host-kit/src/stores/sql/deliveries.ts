import type { DeadLetter, Delivery } from '../../ports/deliveries.ts';
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
