import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

/**
 * Returns the round that looks for a transaction which has been open for long, and logs its begin and its end once each.
 * Deliveries slow down meanwhile, and stop after some 100 000.
 */
export function reportHeldSnapshot(oldestSnapshotMs: NonNullable<Store['oldestSnapshotMs']>, log: Log) {
  let isTold = false;
  return async (): Promise<void> => {
    const ageMs = await oldestSnapshotMs();
    const isHeld = ageMs >= TOLD_MS;
    if (isHeld === isTold) return;
    isTold = isHeld;
    log({ level: isHeld ? 'warn' : 'info', ageMs, ...(isHeld ? HELD : RELEASED) });
  };
}

const TOLD_MS = 600_000;
const HELD = {
  event: 'store.snapshot-held',
  message:
    'A transaction has been open in the database for more than ten minutes. Rows of ended deliveries cannot be cleaned up ' +
    'meanwhile, so that deliveries become slower. Find it in pg_stat_activity by its backend_xmin, and end it.',
};
const RELEASED = {
  event: 'store.snapshot-released',
  message: 'No transaction has been open in the database for more than ten minutes any more.',
};
