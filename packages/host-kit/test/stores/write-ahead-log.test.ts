import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LogBounds, writeAheadLog } from '../../src/stores/sqlite/write-ahead-log.ts';
import { writer as openWriter, type Writer } from '../../src/stores/sqlite/writer.ts';

/** A disk whose flushes end when the test says so. */
interface Disk {
  /** All flushes so far. */
  readonly asked: { readonly done: () => void; readonly failed: (error: Error) => void }[];
}

let folder: string;
let disk: Disk;
let database: DatabaseSync;
let reader: DatabaseSync;
let writer: Writer;
let close: () => void;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-wal-'));
  disk = { asked: [] };
  open((_descriptor) => new Promise((done, failed) => disk.asked.push({ done, failed })));
});
afterEach(() => {
  close();
  rmSync(folder, { recursive: true, force: true });
});

function open(flush?: (descriptor: number) => Promise<void>, bounds?: LogBounds): void {
  const path = join(folder, 'svc.db');
  database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS notes (text TEXT NOT NULL)');
  reader = new DatabaseSync(path, { readOnly: true });
  const log = writeAheadLog({ path, database, reader, ...(flush && { flush }), ...(bounds && { bounds }) });
  writer = openWriter(database, log);
  close = () => {
    log.close();
    reader.close();
    database.close();
  };
}

const note = (text: string) =>
  writer.transaction(async () => {
    database.prepare('INSERT INTO notes VALUES (?)').run(text);
    return text;
  });
const seen = () =>
  reader
    .prepare('SELECT text FROM notes')
    .all()
    .map(({ text }) => text);
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
async function asked(times: number): Promise<void> {
  while (disk.asked.length < times) await nextTurn();
}

test('a transaction resolves, and readers see it, after its flush', async () => {
  let told = false;
  const first = note('first').then(() => {
    told = true;
  });
  await asked(1);
  for (let turns = 0; turns < 10; turns++) await nextTurn();
  expect([told, seen()]).toEqual([false, []]);
  disk.asked[0]?.done();
  await first;
  expect(seen()).toEqual(['first']);
});

test('transactions that arrive during a flush share the next one', async () => {
  const first = note('first');
  await asked(1);
  const others = [note('second'), note('third')];
  for (let turns = 0; turns < 10; turns++) await nextTurn();
  expect(disk.asked).toHaveLength(1);
  disk.asked[0]?.done();
  await first;
  await asked(2);
  expect(seen()).toEqual(['first']);
  disk.asked[1]?.done();
  await Promise.all(others);
  expect([disk.asked.length, seen()]).toEqual([2, ['first', 'second', 'third']]);
});

test('no transaction is written after a failed flush, and readers do not see the failed one', async () => {
  const first = note('first');
  await asked(1);
  disk.asked[0]?.failed(new Error('EIO'));
  await expect(first).rejects.toThrow('Check the disk and restart the host');
  await expect(note('second')).rejects.toThrow('Check the disk and restart the host');
  expect([disk.asked.length, seen()]).toEqual([1, []]);
});

test('all transactions reject when the log file cannot be opened', async () => {
  const log = writeAheadLog({ path: join(folder, 'elsewhere.db'), database, reader });
  writer = openWriter(database, log);
  await expect(note('a')).rejects.toThrow('the disk failed to flush a commit');
  await expect(note('b')).rejects.toThrow('the disk failed to flush a commit');
  expect(seen()).toEqual([]);
});

/** A tenth of the bounds of a host, so that a slow disk writes a tenth of the volume. */
const SMALL: LogBounds = { pages: 410, mostBytes: 6.4 * 1024 * 1024 };

test('the log starts anew before it grows beyond its bound', async () => {
  close();
  open(async () => {}, SMALL);
  const page = 'x'.repeat(40_000);
  for (let turn = 0; turn < 300; turn++) await note(page);
  expect(seen()).toHaveLength(300);
  // 12 MB were written through the log.
  expect(statSync(join(folder, 'svc.db-wal')).size).toBeLessThan(4e6);
});

test('the log stays within its bound when commits become larger', async () => {
  close();
  open(async () => {}, SMALL);
  for (let turn = 0; turn < 100; turn++) await note('small');
  const page = 'x'.repeat(100_000);
  for (let turn = 0; turn < 200; turn++) await note(page);
  expect(seen()).toHaveLength(300);
  // 20 MB were written through the log. The last commit may exceed the bound.
  expect(statSync(join(folder, 'svc.db-wal')).size).toBeLessThan(7e6);
});

test('the log of a host is bounded by 64 MiB', () => {
  const limit = database.prepare('PRAGMA journal_size_limit').get();
  expect(limit).toEqual({ journal_size_limit: 64 * 1024 * 1024 });
});

test('all commits are there when the database is opened again', async () => {
  close();
  open();
  await note('first');
  await Promise.all([note('second'), note('third')]);
  close();
  open();
  expect(seen()).toEqual(['first', 'second', 'third']);
});
