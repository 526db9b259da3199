import type { SourcePlace, SourceReading } from '../../ports/source-places.ts';
import { integer, optional, type Row, text } from './row.ts';

export function placeOf(row: Row): SourcePlace {
  const cursor = optional(row, 'cursor', text);
  const reading: SourceReading = JSON.parse(text(row, 'reading'));
  return {
    triggerId: text(row, 'trigger_id'),
    reader: text(row, 'reader'),
    leaseUntil: integer(row, 'lease_until'),
    ...(cursor !== undefined && { cursor }),
    reading,
  };
}
