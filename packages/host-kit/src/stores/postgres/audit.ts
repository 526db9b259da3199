import { nextEntry } from '@svc/auth/audit';
import type { AuditStore } from '../../ports/audit.ts';
import { checkpointOf, entryOf, headOf } from '../sql/audit.ts';
import { integer, text } from '../sql/row.ts';
import type { Database } from './database.ts';

// Appends wait for each other, because a chain has one end. A transaction takes this lock last, so that the wait is
// short.
const LOCK = { name: 'audit-lock', text: `SELECT pg_advisory_xact_lock(hashtext(current_schema() || ' svc audit'))` };
const HEAD = {
  name: 'audit-head',
  text: 'SELECT at_sequence, hash FROM audit_entries ORDER BY at_sequence DESC LIMIT 1',
};
const INSERT = {
  name: 'audit-insert',
  text: `INSERT INTO audit_entries (at_sequence, action, actor, target, occurred_at, details, prev_hash, hash)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])`,
};
const ENTRIES = {
  name: 'audit-entries',
  text: 'SELECT * FROM audit_entries WHERE at_sequence BETWEEN $1 AND $2 ORDER BY at_sequence LIMIT $3',
};
const UNSEALED = {
  name: 'audit-unsealed',
  text: `SELECT at_sequence, hash FROM audit_entries
    WHERE at_sequence > (SELECT coalesce(max(at_sequence), 0) FROM audit_checkpoints) ORDER BY at_sequence LIMIT $1`,
};
const SEAL = {
  name: 'audit-seal',
  text: `INSERT INTO audit_checkpoints (at_sequence, checkpoint, merkle_root, signature)
    SELECT $1, $2, $3, $4 WHERE $5 = (SELECT coalesce(max(at_sequence), 0) FROM audit_checkpoints)`,
};
// The last checkpoint before the range, those that end in the range, and the first that ends after it.
const CHECKPOINTS = {
  name: 'audit-checkpoints',
  text: `SELECT * FROM audit_checkpoints
    WHERE at_sequence >= coalesce((SELECT max(at_sequence) FROM audit_checkpoints WHERE at_sequence < $1), 0)
      AND at_sequence <= coalesce((SELECT min(at_sequence) FROM audit_checkpoints WHERE at_sequence >= $2), $2)
    ORDER BY at_sequence`,
};

export function auditStore(database: Database): AuditStore {
  return {
    async append(facts, transaction) {
      await database.within(transaction, LOCK, []);
      let last = headOf((await database.within(transaction, HEAD, [])).rows[0]);
      const entries = facts.map((fact) => {
        const entry = nextEntry(last, fact);
        last = entry;
        return entry;
      });
      const column = <T>(of: (entry: (typeof entries)[number]) => T): T[] => entries.map(of);
      await database.within(transaction, INSERT, [
        column(({ atSequence }) => atSequence),
        column(({ action }) => action),
        column(({ actor }) => actor),
        column(({ target }) => target),
        column(({ occurredAt }) => occurredAt),
        column(({ details }) => JSON.stringify(details)),
        column(({ prevHash }) => prevHash),
        column(({ hash }) => hash),
      ]);
    },
    async unsealed(limit) {
      const { rows } = await database.query(UNSEALED, [limit]);
      return rows.map((row) => ({ atSequence: integer(row, 'at_sequence'), hash: text(row, 'hash') }));
    },
    async seal({ atSequence, checkpoint, merkleRoot, signature }, after, transaction) {
      // Without the lock, two hosts that seal at the same time would sign overlapping parts.
      await database.within(transaction, LOCK, []);
      await database.within(transaction, SEAL, [atSequence, checkpoint, merkleRoot, signature, after]);
    },
    async head() {
      return headOf((await database.query(HEAD, [])).rows[0]);
    },
    async *entries(fromSeq, toSeq) {
      for (let next = fromSeq; next <= toSeq; ) {
        const { rows } = await database.query(ENTRIES, [next, toSeq, PAGE]);
        for (const row of rows) yield entryOf(row);
        const last = rows.at(-1);
        if (last === undefined || rows.length < PAGE) return;
        next = integer(last, 'at_sequence') + 1;
      }
    },
    async checkpoints(fromSeq, toSeq) {
      return (await database.query(CHECKPOINTS, [fromSeq, toSeq])).rows.map(checkpointOf);
    },
  };
}

const PAGE = 1000;
