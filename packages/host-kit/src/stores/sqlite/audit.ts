import type { DatabaseSync } from 'node:sqlite';
import { type AuditReader, nextEntry } from '@svc/auth/audit';
import type { AuditStore, TreeGrowth } from '../../ports/audit.ts';
import { type ListReader, listEntries } from '../audit-list.ts';
import {
  bytesOfHashes,
  checkpointOf,
  entryOf,
  hashesIn,
  headOf,
  offsetsOf,
  postingOf,
  SEALABLE,
  sealableOf,
  TREE_KEPT_FROM,
} from '../sql/audit.ts';
import { integer, text } from '../sql/row.ts';
import type { Writer } from './writer.ts';

const INSERT = `INSERT INTO audit_entries (at_sequence, action, actor, target, occurred_at, details, prev_hash, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const HEAD = 'SELECT at_sequence, hash FROM audit_entries ORDER BY at_sequence DESC LIMIT 1';
const ENTRIES = 'SELECT * FROM audit_entries WHERE at_sequence BETWEEN ? AND ? ORDER BY at_sequence LIMIT ?';
const UNSEALED = `SELECT ${SEALABLE} FROM audit_entries
  WHERE at_sequence > (SELECT coalesce(max(at_sequence), 0) FROM audit_checkpoints) ORDER BY at_sequence LIMIT ?`;
const SEAL = `INSERT INTO audit_checkpoints (at_sequence, checkpoint, merkle_root, signature)
  SELECT ?, ?, ?, ? WHERE ? = (SELECT coalesce(max(at_sequence), 0) FROM audit_checkpoints)`;
// The last checkpoint before the range, those that end in the range, and the first that ends after it.
const CHECKPOINTS = `SELECT * FROM audit_checkpoints
  WHERE at_sequence >= coalesce((SELECT max(at_sequence) FROM audit_checkpoints WHERE at_sequence < ?1), 0)
    AND at_sequence <= coalesce((SELECT min(at_sequence) FROM audit_checkpoints WHERE at_sequence >= ?2), ?2)
  ORDER BY at_sequence`;
const TREE_SIZE = `SELECT coalesce((SELECT first + length(hashes) / 32 FROM audit_tree
  WHERE level = 0 ORDER BY first DESC LIMIT 1), 0) AS size`;
const ADD_RUN = 'INSERT INTO audit_tree (level, first, hashes) VALUES (?, ?, ?)';
const ADD_NOTE = 'INSERT INTO audit_notes (tree_size, note) VALUES (?, ?)';
const NOTE = 'SELECT note FROM audit_notes ORDER BY tree_size DESC LIMIT 1';
const RUNS = `SELECT first, hashes FROM audit_tree WHERE level = ?1 AND first < ?3
  AND first >= coalesce((SELECT max(first) FROM audit_tree WHERE level = ?1 AND first <= ?2), 0) ORDER BY first`;

const ADD_POSTING = 'INSERT INTO audit_postings (tenant, mode, by, value, first, offsets) VALUES (?, ?, ?, ?, ?, ?)';
const POSTING = `SELECT first, offsets FROM audit_postings
  WHERE tenant = ? AND mode = ? AND by = ? AND value = ? AND first < ? ORDER BY first DESC LIMIT 1`;
const AT = 'SELECT * FROM audit_entries WHERE at_sequence IN (SELECT value FROM json_each(?))';

const START = 'SELECT c.* FROM audit_start s JOIN audit_checkpoints c ON c.at_sequence = s.at_sequence';
const START_AT = `UPDATE audit_start SET at_sequence = ?1 WHERE at_sequence < ?1
  AND EXISTS (SELECT 1 FROM audit_checkpoints WHERE at_sequence = ?1)`;
// The postings of one growth of the tree have one `first`: all before that of the first remaining entry are older.
const SWEEP_POSTINGS = `DELETE FROM audit_postings WHERE (tenant, mode, by, value, first) IN (
  SELECT tenant, mode, by, value, first FROM audit_postings WHERE first < (
    SELECT max(first) FROM audit_postings WHERE first <= (SELECT at_sequence FROM audit_start)
  ) ORDER BY first LIMIT ?)`;
const SWEEP_TREE = `DELETE FROM audit_tree WHERE (level, first) IN (
  SELECT t.level, t.first FROM (${TREE_KEPT_FROM}) k CROSS JOIN audit_tree t
  WHERE t.level = k.level AND t.first < k.kept_from AND t.first + length(t.hashes) / 32 <= k.kept_from LIMIT ?)`;
const SWEEP_NOTES = `DELETE FROM audit_notes WHERE tree_size IN (
  SELECT tree_size FROM audit_notes WHERE tree_size < (SELECT at_sequence FROM audit_start)
    AND tree_size < (SELECT max(tree_size) FROM audit_notes) ORDER BY tree_size LIMIT ?)`;
/** The entries go after the records that only serve them. */
const SWEEP = [
  SWEEP_POSTINGS,
  SWEEP_TREE,
  SWEEP_NOTES,
  ...['audit_entries', 'audit_checkpoints'].map(
    (table) => `DELETE FROM ${table} WHERE at_sequence IN (SELECT at_sequence FROM ${table}
      WHERE at_sequence < (SELECT at_sequence FROM audit_start) ORDER BY at_sequence LIMIT ?)`,
  ),
];

export function auditStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): AuditStore {
  const insert = database.prepare(INSERT);
  const headNow = database.prepare(HEAD);
  const insertCheckpoint = database.prepare(SEAL);
  const unsealed = reader.prepare(UNSEALED);
  const startAt = database.prepare(START_AT);
  const sweeps = SWEEP.map((sweep) => database.prepare(sweep));
  const treeSizeNow = database.prepare(TREE_SIZE);
  const insertRun = database.prepare(ADD_RUN);
  const insertNote = database.prepare(ADD_NOTE);
  const insertPosting = database.prepare(ADD_POSTING);
  const grow = ({ from, runs, postings, note }: TreeGrowth): void => {
    if (integer(treeSizeNow.get() ?? {}, 'size') !== from) return;
    for (const { level, first, hashes } of runs) insertRun.run(level, first, bytesOfHashes(hashes));
    for (const posting of postings) {
      const { tenant, mode, by, value, first } = posting;
      insertPosting.run(tenant, mode, by, value, first, offsetsOf(posting));
    }
    if (note !== undefined) insertNote.run(integer(treeSizeNow.get() ?? {}, 'size'), note);
  };

  return {
    ...auditReader(reader),
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
      return unsealed.all(limit).map(sealableOf);
    },
    async seal({ atSequence, checkpoint, merkleRoot, signature }, after, growth, transaction) {
      writer.require(transaction);
      const { changes } = insertCheckpoint.run(atSequence, checkpoint, merkleRoot, signature, after);
      if (Number(changes) > 0) grow(growth);
    },
    async grow(growth, transaction) {
      writer.require(transaction);
      grow(growth);
    },
    async startAt({ atSequence }, transaction) {
      writer.require(transaction);
      return Number(startAt.run(atSequence).changes) === 1;
    },
    sweep: (limit) =>
      writer.transaction(async () => {
        let swept = 0;
        for (const sweep of sweeps) if (swept < limit) swept += Number(sweep.run(limit - swept).changes);
        return swept;
      }),
    ...treeReader(reader),
    ...entryList(reader),
  };
}

function treeReader(reader: DatabaseSync): Pick<AuditStore, 'hashes' | 'treeSize' | 'note'> {
  const runs = reader.prepare(RUNS);
  const size = reader.prepare(TREE_SIZE);
  const note = reader.prepare(NOTE);
  return {
    hashes: async (level, from, count) => hashesIn(runs.all(level, from, from + count), from, count),
    treeSize: async () => integer(size.get() ?? {}, 'size'),
    async note() {
      const row = note.get();
      return row && text(row, 'note');
    },
  };
}

function entryList(reader: DatabaseSync): Pick<AuditStore, 'list'> {
  const at = reader.prepare(AT);
  const posting = reader.prepare(POSTING);
  const lists: ListReader = {
    ...auditReader(reader),
    ...treeReader(reader),
    at: async (sequences) => at.all(JSON.stringify(sequences)).map(entryOf),
    async posting({ tenant, mode, by, value }, before) {
      const row = posting.get(tenant, mode, by, value, before);
      return row && postingOf(row);
    },
  };
  return { list: (tenancy, query) => listEntries(lists, tenancy, query) };
}

/** Reads the audit log, without the means to write it. */
export function auditReader(reader: DatabaseSync): AuditReader & Pick<AuditStore, 'start'> {
  const head = reader.prepare(HEAD);
  const page = reader.prepare(ENTRIES);
  const checkpoints = reader.prepare(CHECKPOINTS);
  const start = reader.prepare(START);

  return {
    async start() {
      const row = start.get();
      return row && checkpointOf(row);
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
