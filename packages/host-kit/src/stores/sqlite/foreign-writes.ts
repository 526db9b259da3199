import type { DatabaseSync } from 'node:sqlite';
import { integer } from '../sql/row.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

/**
 * Notices at the begin of a transaction that another process has written to the database since the last one, for example
 * an `sqlite3` shell. What the store has in memory may then differ from the tables.
 *
 * @param noticed called inside of the transaction, before its first statement
 * @see https://www.sqlite.org/pragma.html#pragma_data_version
 */
export function noticingForeignWrites(
  log: WriteAheadLog,
  database: DatabaseSync,
  noticed: () => void,
): Pick<WriteAheadLog, 'begin' | 'commit'> {
  const version = database.prepare('PRAGMA data_version');
  const read = () => integer(version.get() ?? {}, 'data_version');
  let known = read();

  return {
    async begin() {
      await log.begin();
      const current = read();
      if (current === known) return;
      known = current;
      noticed();
    },
    commit: (flushed) => log.commit(flushed),
  };
}
