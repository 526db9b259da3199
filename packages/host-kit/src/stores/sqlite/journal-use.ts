import type { DatabaseSync } from 'node:sqlite';
import { integer } from '../sql/row.ts';
import { JOURNAL_VERSION } from './migrate.ts';

/**
 * Keeps hosts that do not know the journal from opening the file, because they would not see what is in it: from now on
 * they need to know this version of the schema. The former requirement is kept.
 */
export function beginJournalUse(database: DatabaseSync): void {
  endJournalUse(database);
  inTransaction(database, () => {
    database.exec('INSERT INTO write_journal_use SELECT version FROM schema_readable_by');
    database.prepare('UPDATE schema_readable_by SET version = max(version, ?)').run(JOURNAL_VERSION);
  });
}

/** Lets these hosts open the file again. The journal must be empty. */
export function endJournalUse(database: DatabaseSync): void {
  inTransaction(database, () => {
    const former = database.prepare('SELECT readable_by FROM write_journal_use').get();
    if (former === undefined) return;
    database
      .prepare('UPDATE schema_readable_by SET version = ? WHERE version = ?')
      .run(integer(former, 'readable_by'), JOURNAL_VERSION);
    database.exec('DELETE FROM write_journal_use');
  });
}

function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}
