import type { AttemptPhase, AttemptRecord } from '../../ports/attempts.ts';
import { integer, optional, type Row, text } from './row.ts';

/** Returns the value of the column `phases`. */
export function phasesColumn({ phases }: AttemptRecord): string | null {
  if (phases === undefined) return null;
  return JSON.stringify(phases.map(({ phase, durationMs }) => [phase, durationMs]));
}

export function attemptOf(row: Row): AttemptRecord {
  const phases = optional(row, 'phases', text);
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
    ...(phases !== undefined && { phases: phasesOf(phases) }),
  };
}

function phasesOf(stored: string): readonly AttemptPhase[] {
  const phases: readonly (readonly [AttemptPhase['phase'], number])[] = JSON.parse(stored);
  return phases.map(([phase, durationMs]) => ({ phase, durationMs }));
}

function outcomeOf(value: string): AttemptRecord['outcome'] {
  return value === 'delivered' || value === 'denied' || value === 'skipped' ? value : 'failed';
}
