import { counterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** A kind of removed records: a run, a record of a run such as an event, an entry or checkpoint of the audit log. */
export type RemovedKind = 'run' | 'run-record' | 'audit-record';

/** Counts the records that are removed because their time has passed. */
export function removalCounter({ meter }: Scope): (kind: RemovedKind, count: number) => void {
  const removed = counterOf(meter, METRICS.removed);
  return (kind, count) => {
    if (count > 0) removed.add(count, { 'svc.retention.kind': kind });
  };
}
