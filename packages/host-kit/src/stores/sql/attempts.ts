import type { AttemptRecord } from '../../ports/attempts.ts';
import { integer, optional, type Row, text } from './row.ts';

export function attemptOf(row: Row): AttemptRecord {
  return {
    deliveryId: text(row, 'delivery_id'),
    webhookId: text(row, 'webhook_id'),
    runId: text(row, 'run_id'),
    sequence: integer(row, 'sequence'),
    eventType: text(row, 'event_type'),
    attempt: integer(row, 'attempt'),
    at: integer(row, 'at'),
    durationMs: integer(row, 'duration_us') / 1000,
    outcome: outcomeOf(text(row, 'outcome')),
    status: optional(row, 'status', integer),
    reason: optional(row, 'reason', text),
  };
}

function outcomeOf(value: string): AttemptRecord['outcome'] {
  return value === 'delivered' || value === 'denied' || value === 'skipped' ? value : 'failed';
}
