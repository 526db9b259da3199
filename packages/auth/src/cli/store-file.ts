import { stat } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { StoredEntry } from '../audit/chain.ts';
import { storedNodes } from '../audit-tree/growing-tree.ts';
import { inclusionProof } from '../audit-tree/tree.ts';
import type { ProvenEntry } from './audit-file.ts';
import type { ExportQuery, ExportSource } from './export-source.ts';
import { UsageError } from './terminal.ts';

/**
 * Opens the SQLite database of a host to export its audit log. It reads alone: the file and its journal stay as they are,
 * and entries that are still in the journal are exported too.
 *
 * @throws {UsageError} when the file cannot be read as the database of a host
 */
export async function storeFile(path: string): Promise<ExportSource & { close(): void }> {
  const database = await opened(path.replace(/^sqlite:/, ''));
  const runs = database.prepare(RUNS);
  const page = database.prepare(ENTRIES);
  const nodes = storedNodes({
    hashes: async (level, from, count) => hashesIn(runs.all(level, from, from + count), from, count),
  });
  return {
    async note() {
      const note = database.prepare(NOTE).get()?.note;
      if (typeof note === 'string') return note;
      throw new Error('the log has no checkpoint yet. Start the host until it has made one.');
    },
    async page({ treeSize, before = treeSize + 1, action, principal, tenant }: ExportQuery) {
      const last = Math.min(before, treeSize + 1);
      const found = page.all(last, action ?? null, principal ?? null, tenant ?? null, PAGE_ENTRIES).map(entryOf);
      const entries: ProvenEntry[] = [];
      for (const entry of found)
        entries.push({ ...entry, proof: [...(await inclusionProof(nodes, entry.atSequence - 1, treeSize))] });
      const lowest = found.length === PAGE_ENTRIES ? found.at(-1)?.atSequence : undefined;
      return { entries, nextBefore: lowest };
    },
    close: () => database.close(),
  };
}

const PAGE_ENTRIES = 200;
const NOTE = 'SELECT note FROM audit_notes ORDER BY tree_size DESC LIMIT 1';
const ENTRIES = `SELECT * FROM audit_entries
  WHERE at_sequence < ?1 AND at_sequence >= (SELECT coalesce(max(at_sequence), 0) FROM audit_start)
    AND (?2 IS NULL OR action = ?2) AND (?3 IS NULL OR actor = ?3)
    AND (?4 IS NULL OR json_extract(details, '$.tenant') = ?4)
  ORDER BY at_sequence DESC LIMIT ?5`;
const RUNS = `SELECT first, hashes FROM audit_tree WHERE level = ?1 AND first < ?3
  AND first >= coalesce((SELECT max(first) FROM audit_tree WHERE level = ?1 AND first <= ?2), 0) ORDER BY first`;

async function opened(path: string): Promise<DatabaseSync> {
  const file = await stat(path).catch(() => undefined);
  if (file?.isFile() !== true) throw new UsageError('--store: is no file. Pass the SQLite file of the host.');
  const { DatabaseSync } = await import('node:sqlite');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
    for (const sql of [NOTE, ENTRIES, RUNS]) database.prepare(sql);
    return database;
  } catch (cause) {
    database?.close();
    const reason = cause instanceof Error ? cause.message : 'unknown error';
    throw new UsageError(
      `--store: cannot be read as the database of a host (${reason}). Pass its SQLite file, and this release of svc-audit.`,
      { cause },
    );
  }
}

/** The wait for another process that changes the file as a whole. */
const BUSY_MS = 5000;

type Row = Readonly<Record<string, unknown>>;

function entryOf(row: Row): StoredEntry {
  const text = (name: string) => String(row[name]);
  const orNull = (name: string) => (row[name] === null ? null : text(name));
  return {
    atSequence: Number(row.at_sequence),
    action: text('action'),
    actor: orNull('actor'),
    target: orNull('target'),
    occurredAt: text('occurred_at'),
    details: JSON.parse(text('details')),
    prevHash: orNull('prev_hash'),
    hash: text('hash'),
  };
}

function hashesIn(rows: readonly Row[], from: number, count: number): readonly string[] {
  const hashes: string[] = [];
  for (const { first, hashes: run } of rows) {
    const bytes = run instanceof Uint8Array ? Buffer.from(run) : Buffer.alloc(0);
    for (let at = Math.max(0, from - Number(first)) * 32; at < bytes.length && hashes.length < count; at += 32)
      hashes.push(bytes.toString('hex', at, at + 32));
  }
  return hashes;
}
