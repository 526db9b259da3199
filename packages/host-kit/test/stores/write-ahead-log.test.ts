import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeAheadLog } from '../../src/stores/sqlite/write-ahead-log.ts';
import { writer as openWriter, type Writer } from '../../src/stores/sqlite/writer.ts';

/** A disk that takes what it is given when it is told to, or never. */
interface Disk {
  /** Flushes that it has been asked for and has not answered. */
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

function open(flush?: (descriptor: number) => Promise<void>): void {
  const path = join(folder, 'svc.db');
  database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS notes (text TEXT NOT NULL)');
  reader = new DatabaseSync(path, { readOnly: true });
  const log = writeAheadLog({ path, database, reader, ...(flush && { flush }) });
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

test('nobody hears of a transaction, and no reader sees it, before it is on the disk', async () => {
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

test('what is asked for meanwhile waits, and shares the next flush', async () => {
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

test('a disk that fails is written to no more, and what it may not have is not shown', async () => {
  const first = note('first');
  await asked(1);
  disk.asked[0]?.failed(new Error('EIO'));
  await expect(first).rejects.toThrow('Check the disk and restart the host');
  await expect(note('second')).rejects.toThrow('Check the disk and restart the host');
  expect([disk.asked.length, seen()]).toEqual([1, []]);
});

test('a log that cannot be opened is a disk that fails, and whoever comes later hears so, too', async () => {
  const log = writeAheadLog({ path: join(folder, 'elsewhere.db'), database, reader });
  writer = openWriter(database, log);
  await expect(note('a')).rejects.toThrow('The disk did not take');
  await expect(note('b')).rejects.toThrow('The disk did not take');
  expect(seen()).toEqual([]);
});

test('the log is written again from its beginning, however much goes through it', async () => {
  close();
  open(async () => {});
  const page = 'x'.repeat(40_000);
  for (let turn = 0; turn < 3000; turn++) await note(page);
  expect(seen()).toHaveLength(3000);
  // 120 MB went through it.
  expect(statSync(join(folder, 'svc.db-wal')).size).toBeLessThan(40e6);
}, 30_000);

test('the log does not grow when commits become larger than they were', async () => {
  close();
  open(async () => {});
  for (let turn = 0; turn < 100; turn++) await note('small');
  const page = 'x'.repeat(1_000_000);
  for (let turn = 0; turn < 200; turn++) await note(page);
  expect(seen()).toHaveLength(300);
  // 200 MB went through it; the last commit may stand behind the bound.
  expect(statSync(join(folder, 'svc.db-wal')).size).toBeLessThan(70e6);
}, 30_000);

test('it is all there when the database is opened again', async () => {
  close();
  open();
  await note('first');
  await Promise.all([note('second'), note('third')]);
  close();
  open();
  expect(seen()).toEqual(['first', 'second', 'third']);
});
