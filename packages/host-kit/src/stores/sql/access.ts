import type { AccessRecord } from '../../ports/access.ts';
import { lookupOf } from '../../ports/access-lookup.ts';
import { type Row, text } from './row.ts';

/** The columns of a record, in the order of the statements. */
export function accessColumns(record: AccessRecord): (string | number | null)[] {
  return [
    record.kind,
    record.tenant,
    record.id,
    lookupOf(record),
    principalOf(record),
    record.kind === 'assignment' ? record.role : null,
    record.source,
    record.kind === 'withdrawal' ? (record.until ?? null) : null,
    JSON.stringify(record),
  ];
}

function principalOf(record: AccessRecord): string | null {
  if (record.kind === 'assignment' || record.kind === 'binding') return record.principal;
  return record.kind === 'withdrawal' && record.withdraws === 'principal' ? record.name : null;
}

/** Reads a record. */
export function accessOf(row: Row): AccessRecord {
  return JSON.parse(text(row, 'record'));
}
