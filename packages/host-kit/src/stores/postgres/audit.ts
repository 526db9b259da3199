import { type AuditFact, type AuditReader, canonicalJson, checkedFact } from '@svc/auth/audit';
import type { AuditStore, TreeGrowth } from '../../ports/audit.ts';
import type { Transaction } from '../../ports/transaction.ts';
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
import type { Database } from './database.ts';

/**
 * Appends for which no caller waits take this lock first. So one of them at a time, of all hosts, waits for the lock of
 * `audit_append`, and an append with a waiting caller waits for one of them at most.
 */
const QUEUE = `SELECT pg_advisory_xact_lock(hashtext(current_schema() || ' svc audit queue'))`;
/** Without it, two hosts that seal at the same time would sign overlapping parts. Appends do not wait for it. */
const SEAL_LOCK = {
  name: 'audit-seal-lock',
  text: `SELECT pg_advisory_xact_lock(hashtext(current_schema() || ' svc audit seal'))`,
};
const HEAD = {
  name: 'audit-head',
  text: 'SELECT at_sequence, hash FROM audit_entries ORDER BY at_sequence DESC LIMIT 1',
};
const ENTRIES = {
  name: 'audit-entries',
  text: 'SELECT * FROM audit_entries WHERE at_sequence BETWEEN $1 AND $2 ORDER BY at_sequence LIMIT $3',
};
const UNSEALED = {
  name: 'audit-unsealed',
  text: `SELECT ${SEALABLE} FROM audit_entries
    WHERE at_sequence > (SELECT coalesce(max(at_sequence), 0) FROM audit_checkpoints) ORDER BY at_sequence LIMIT $1`,
};
const SEAL = {
  name: 'audit-seal',
  text: `INSERT INTO audit_checkpoints (at_sequence, checkpoint, merkle_root, signature)
    SELECT $1, $2, $3, $4 WHERE $5 = (SELECT coalesce(max(at_sequence), 0) FROM audit_checkpoints) RETURNING at_sequence`,
};
// The last checkpoint before the range, those that end in the range, and the first that ends after it.
const CHECKPOINTS = {
  name: 'audit-checkpoints',
  text: `SELECT * FROM audit_checkpoints
    WHERE at_sequence >= coalesce((SELECT max(at_sequence) FROM audit_checkpoints WHERE at_sequence < $1), 0)
      AND at_sequence <= coalesce((SELECT min(at_sequence) FROM audit_checkpoints WHERE at_sequence >= $2), $2)
    ORDER BY at_sequence`,
};
const TREE_SIZE = {
  name: 'audit-tree-size',
  text: `SELECT coalesce((SELECT first + length(hashes) / 32 FROM audit_tree
    WHERE level = 0 ORDER BY first DESC LIMIT 1), 0) AS size`,
};
const ADD_RUNS = {
  name: 'audit-tree-grow',
  text: 'INSERT INTO audit_tree (level, first, hashes) SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[])',
};
const ADD_NOTE = { name: 'audit-note-add', text: 'INSERT INTO audit_notes (tree_size, note) VALUES ($1, $2)' };
const NOTE = { name: 'audit-note', text: 'SELECT note FROM audit_notes ORDER BY tree_size DESC LIMIT 1' };
const RUNS = {
  name: 'audit-tree-runs',
  text: `SELECT first, hashes FROM audit_tree WHERE level = $1 AND first < $3
    AND first >= coalesce((SELECT max(first) FROM audit_tree WHERE level = $1 AND first <= $2), 0) ORDER BY first`,
};

const ADD_POSTINGS = {
  name: 'audit-postings-add',
  text: `INSERT INTO audit_postings (tenant, mode, by, value, first, offsets)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])`,
};
const POSTING = {
  name: 'audit-posting',
  text: `SELECT first, offsets FROM audit_postings
    WHERE tenant = $1 AND mode = $2 AND by = $3 AND value = $4 AND first < $5 ORDER BY first DESC LIMIT 1`,
};
const AT = { name: 'audit-at', text: 'SELECT * FROM audit_entries WHERE at_sequence = ANY ($1::bigint[])' };

const START = {
  name: 'audit-start',
  text: 'SELECT c.* FROM audit_start s JOIN audit_checkpoints c ON c.at_sequence = s.at_sequence',
};
const START_AT = {
  name: 'audit-start-at',
  text: `UPDATE audit_start SET at_sequence = $1 WHERE at_sequence < $1
    AND EXISTS (SELECT 1 FROM audit_checkpoints WHERE at_sequence = $1)`,
};
// The postings of one growth of the tree have one `first`: all before that of the first remaining entry are older.
const SWEEP_POSTINGS = {
  name: 'audit-sweep-postings',
  text: `DELETE FROM audit_postings WHERE ctid = ANY (ARRAY(SELECT ctid FROM audit_postings WHERE first < (
    SELECT max(first) FROM audit_postings WHERE first <= (SELECT at_sequence FROM audit_start)
  ) ORDER BY first LIMIT $1 FOR UPDATE SKIP LOCKED))`,
};
const SWEEP_TREE = {
  name: 'audit-sweep-tree',
  text: `DELETE FROM audit_tree WHERE (level, first) IN (
    SELECT t.level, t.first FROM (${TREE_KEPT_FROM}) k JOIN audit_tree t
      ON t.level = k.level AND t.first < k.kept_from AND t.first + length(t.hashes) / 32 <= k.kept_from
    LIMIT $1 FOR UPDATE OF t SKIP LOCKED)`,
};
const SWEEP_NOTES = {
  name: 'audit-sweep-notes',
  text: `DELETE FROM audit_notes WHERE tree_size IN (SELECT tree_size FROM audit_notes
    WHERE tree_size < (SELECT at_sequence FROM audit_start) AND tree_size < (SELECT max(tree_size) FROM audit_notes)
    ORDER BY tree_size LIMIT $1 FOR UPDATE SKIP LOCKED)`,
};
/** The entries go after the records that only serve them. */
const SWEEP = [
  SWEEP_POSTINGS,
  SWEEP_TREE,
  SWEEP_NOTES,
  ...['audit_entries', 'audit_checkpoints'].map((table) => ({
    name: `audit-sweep-${table}`,
    text: `DELETE FROM ${table} WHERE at_sequence IN (SELECT at_sequence FROM ${table}
      WHERE at_sequence < (SELECT at_sequence FROM audit_start) ORDER BY at_sequence LIMIT $1 FOR UPDATE SKIP LOCKED)`,
  })),
];

export function auditStore(database: Database): AuditStore {
  const reader = entryReader(database);
  const tree = treeStore(database);
  const lists: ListReader = { ...reader, ...tree, ...postingReader(database) };
  return {
    ...reader,
    ...tree,
    list: (tenancy, query) => listEntries(lists, tenancy, query),
    async append(facts, transaction, order) {
      const append = `SELECT audit_append(${database.literal(canonicalJson(facts.map(membersOf)))})`;
      if (order === 'last') database.withCommit(transaction, 'audit-queue', QUEUE);
      database.withCommit(transaction, 'audit', append);
    },
    async unsealed(limit) {
      const { rows } = await database.query(UNSEALED, [limit]);
      return rows.map(sealableOf);
    },
    async seal({ atSequence, checkpoint, merkleRoot, signature }, after, growth, transaction) {
      await database.within(transaction, SEAL_LOCK, []);
      const values = [atSequence, checkpoint, merkleRoot, signature, after];
      const { rows } = await database.within(transaction, SEAL, values);
      if (rows.length > 0) await grown(database, growth, transaction);
    },
    async startAt({ atSequence }, transaction) {
      return (await database.within(transaction, START_AT, [atSequence])).count === 1;
    },
    async sweep(limit) {
      let swept = 0;
      for (const sweep of SWEEP) if (swept < limit) swept += (await database.query(sweep, [limit - swept])).count;
      return swept;
    },
  };
}

/** The members of a checked fact that `audit_append` takes. Others are not stored. */
function membersOf(fact: AuditFact) {
  const { action, actor, target, occurredAt, details } = checkedFact(fact);
  return { action, actor, target, occurredAt, details };
}

function entryReader(database: Database): AuditReader & Pick<AuditStore, 'start'> {
  return {
    async start() {
      const [row] = (await database.query(START, [])).rows;
      return row && checkpointOf(row);
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

function treeStore(database: Database): Pick<AuditStore, 'grow' | 'hashes' | 'treeSize' | 'note'> {
  return {
    async grow(growth, transaction) {
      await database.within(transaction, SEAL_LOCK, []);
      await grown(database, growth, transaction);
    },
    async hashes(level, from, count) {
      return hashesIn((await database.query(RUNS, [level, from, from + count])).rows, from, count);
    },
    async treeSize() {
      return integer((await database.query(TREE_SIZE, [])).rows[0] ?? {}, 'size');
    },
    async note() {
      const [row] = (await database.query(NOTE, [])).rows;
      return row && text(row, 'note');
    },
  };
}

function postingReader(database: Database): Pick<ListReader, 'at' | 'posting'> {
  return {
    at: async (sequences) => (await database.query(AT, [sequences])).rows.map(entryOf),
    async posting({ tenant, mode, by, value }, before) {
      const [row] = (await database.query(POSTING, [tenant, mode, by, value, before])).rows;
      return row && postingOf(row);
    },
  };
}

/** Adds to the tree under the lock of sealing, if it still has the size that the growth begins with. */
async function grown(
  database: Database,
  { from, runs, postings, note }: TreeGrowth,
  transaction: Transaction,
): Promise<void> {
  const size = async () => integer((await database.within(transaction, TREE_SIZE, [])).rows[0] ?? {}, 'size');
  if ((await size()) !== from) return;
  await database.within(transaction, ADD_RUNS, [
    runs.map(({ level }) => level),
    runs.map(({ first }) => first),
    runs.map(({ hashes }) => bytesOfHashes(hashes)),
  ]);
  await database.within(transaction, ADD_POSTINGS, [
    postings.map(({ tenant }) => tenant),
    postings.map(({ mode }) => mode),
    postings.map(({ by }) => by),
    postings.map(({ value }) => value),
    postings.map(({ first }) => first),
    postings.map(offsetsOf),
  ]);
  if (note !== undefined) await database.within(transaction, ADD_NOTE, [await size(), note]);
}

const PAGE = 1000;
