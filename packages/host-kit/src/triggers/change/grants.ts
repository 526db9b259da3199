import type { ChangeTable } from '../../ports/changes.ts';
import type { ChangeRules, TriggerRecord } from '../../ports/triggers.ts';

/** The grants of all tables of a host. */
export interface ChangeGrants {
  /** Whether a trigger of this tenant and mode may read the table. */
  readonly allows: (of: Pick<TriggerRecord, 'tenant' | 'mode'>, change: Pick<ChangeRules, 'table'>) => boolean;
}

/**
 * Reads the grants of tables. A table that is not granted is refused.
 *
 * @throws {TypeError} when a pause is out of range
 */
export function changeGrants(tables: Readonly<Record<string, ChangeTable>>): ChangeGrants {
  const holders = new Set<string>();
  for (const [table, { grants, pollMs = DEFAULT_POLL_MS }] of Object.entries(tables)) {
    if (!(pollMs >= 10 && pollMs <= 3_600_000))
      throw new TypeError(`triggers.changes.${table}.pollMs: must be from 10 to 3600000. Leave it out for 1000.`);
    for (const { tenant, mode = 'live' } of grants) holders.add(keyOf({ tenant, mode }, table));
  }
  return { allows: (of, { table }) => holders.has(keyOf(of, table)) };
}

/** The default of `ChangeTable.pollMs`. */
export const DEFAULT_POLL_MS = 1000;

function keyOf({ tenant, mode }: Pick<TriggerRecord, 'tenant' | 'mode'>, table: string): string {
  return JSON.stringify([table, tenant, mode]);
}
