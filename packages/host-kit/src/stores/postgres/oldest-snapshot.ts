import { integer } from '../sql/row.ts';
import type { Database } from './database.ts';

// `backend_xid`: a transaction that has written holds back the clean-up even without a snapshot of its own.
const OLDEST = {
  name: 'oldest-snapshot',
  text: `SELECT coalesce(floor(extract(epoch FROM max(clock_timestamp() - since)) * 1000), 0)::bigint AS age FROM (
    SELECT xact_start AS since FROM pg_stat_activity
      WHERE datname = current_database() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
    UNION ALL SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()) AS held`,
};

/**
 * Returns the age of the oldest transaction that prevents the clean-up of rows (VACUUM), in ms. The transactions of other
 * roles are seen with the role `pg_read_all_stats` alone.
 */
export async function oldestSnapshotMs(database: Database): Promise<number> {
  const [row] = (await database.query(OLDEST, [])).rows;
  return row === undefined ? 0 : Math.max(0, integer(row, 'age'));
}
