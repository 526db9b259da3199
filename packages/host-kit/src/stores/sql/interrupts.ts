import type { DueCursor, Interrupt } from '../../ports/interrupts.ts';
import { integer, optional, type Row, text } from './row.ts';

type Document = Pick<Interrupt, 'kind' | 'data' | 'resumeSchema' | 'timeoutMs' | 'escalation' | 'requestedAt'>;

/** Returns the `document` column of an interrupt: its immutable fields as JSON. */
export function interruptDocumentOf({
  kind,
  data,
  resumeSchema,
  timeoutMs,
  escalation,
  requestedAt,
}: Interrupt): string {
  const document: Record<keyof Document, unknown> = { kind, data, resumeSchema, timeoutMs, escalation, requestedAt };
  return JSON.stringify(document);
}

/** Returns the columns of the mutable fields: `status`, `due_at`, `votes` and `resolution`. */
export function interruptStateOf({ status, dueAt, votes, resolution }: Interrupt): (string | number | null)[] {
  return [
    status,
    status === 'pending' ? (dueAt ?? null) : null,
    JSON.stringify(votes),
    resolution === undefined ? null : JSON.stringify(resolution),
  ];
}

/** The place before every due question. */
export const BEFORE_ALL: DueCursor = { dueAt: Number.MIN_SAFE_INTEGER, runId: '', interruptId: '' };

export function interruptOf(row: Row): Interrupt {
  const document: Document = JSON.parse(text(row, 'document'));
  const dueAt = optional(row, 'due_at', integer);
  const resolution = optional(row, 'resolution', text);
  return {
    ...document,
    runId: text(row, 'run_id'),
    interruptId: text(row, 'interrupt_id'),
    nodeId: text(row, 'node_id'),
    key: text(row, 'key'),
    status: text(row, 'status') as Interrupt['status'],
    ...(dueAt !== undefined && { dueAt }),
    votes: JSON.parse(text(row, 'votes')),
    ...(resolution !== undefined && { resolution: JSON.parse(resolution) }),
  };
}
