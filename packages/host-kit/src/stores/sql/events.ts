import type { RunEvent } from '../../ports/events.ts';
import { integer, optional, type Row, text } from './row.ts';

export function eventOf(row: Row): RunEvent {
  const nodeId = optional(row, 'node_id', text);
  const causationId = optional(row, 'causation_id', text);
  return {
    eventId: text(row, 'event_id'),
    runId: text(row, 'run_id'),
    type: text(row, 'type'),
    sequence: integer(row, 'sequence'),
    timestamp: integer(row, 'timestamp'),
    payload: JSON.parse(text(row, 'payload')),
    schemaVersion: integer(row, 'schema_version'),
    engineVersion: integer(row, 'engine_version'),
    ...(nodeId !== undefined && { nodeId }),
    ...(causationId !== undefined && { causationId }),
  };
}
