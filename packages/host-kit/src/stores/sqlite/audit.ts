import type { DatabaseSync } from 'node:sqlite';
import { nextEntry } from '@svc/auth/audit';
import type { AuditStore } from '../../ports/audit.ts';
import { checkpointOf, entryOf, headOf } from '../sql/audit.ts';
import { integer, text } from '../sql/row.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO audit_entries (at_sequence, action, actor, target, occurred_at, details, prev_hash, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const HEAD = 'SELECT at_sequence, hash FROM audit_entries ORDER BY at_sequence DESC LIMIT 1';
const ENTRIES = 'SELECT * FROM audit_entries WHERE at_sequence BETWEEN ? AND ? ORDER BY at_sequence LIMIT ?';
const UNSEALED = `SELECT at_sequence, hash FROM audit_entries
  WHERE at_sequence > (SELECT coalesce(max(at_sequence), 0) FROM audit_checkpoints) ORDER BY at_sequence LIMIT ?`;
const SEAL = `INSERT INTO audit_checkpoints (at_sequence, checkpoint, merkle_root, signature)
  SELECT ?, ?, ?, ? WHERE ? = (SELECT coalesce(max(at_sequence), 0) FROM audit_checkpoints)`;
// The last checkpoint before the range, those that end in the range, and the first that ends after it.
const CHECKPOINTS = `SELECT * FROM audit_checkpoints
  WHERE at_sequence >= coalesce((SELECT max(at_sequence) FROM audit_checkpoints WHERE at_sequence < ?1), 0)
    AND at_sequence <= coalesce((SELECT min(at_sequence) FROM audit_checkpoints WHERE at_sequence >= ?2), ?2)
  ORDER BY at_sequence`;

export function auditStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): AuditStore {
  const insert = database.prepare(INSERT);
  const headNow = database.prepare(HEAD);
  const insertCheckpoint = database.prepare(SEAL);
  const head = reader.prepare(HEAD);
  const page = reader.prepare(ENTRIES);
  const unsealed = reader.prepare(UNSEALED);
  const checkpoints = reader.prepare(CHECKPOINTS);

  return {
    async append(facts, transaction) {
      writer.require(transaction);
      let last = headOf(headNow.get());
      for (const fact of facts) {
        const entry = nextEntry(last, fact);
        const { atSequence, action, actor, target, occurredAt, details, prevHash, hash } = entry;
        insert.run(atSequence, action, actor, target, occurredAt, JSON.stringify(details), prevHash, hash);
        last = entry;
      }
    },
    async unsealed(limit) {
      return unsealed.all(limit).map((row) => ({ atSequence: integer(row, 'at_sequence'), hash: text(row, 'hash') }));
    },
    async seal({ atSequence, checkpoint, merkleRoot, signature }, after, transaction) {
      writer.require(transaction);
      insertCheckpoint.run(atSequence, checkpoint, merkleRoot, signature, after);
    },
    head: async () => headOf(head.get()),
    async *entries(fromSeq, toSeq) {
      // In pages: a read transaction over the whole walk would keep the log from being copied into the database.
      for (let next = fromSeq; next <= toSeq; ) {
        const rows = page.all(next, toSeq, PAGE);
        for (const row of rows) yield entryOf(row);
        const last = rows.at(-1);
        if (last === undefined || rows.length < PAGE) return;
        next = integer(last, 'at_sequence') + 1;
      }
    },
    checkpoints: async (fromSeq, toSeq) => checkpoints.all(fromSeq, toSeq).map(checkpointOf),
  };
}

const PAGE = 1000;
