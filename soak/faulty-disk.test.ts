import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { chance } from '@svc/tools/chance';
import { afterAll, describe, expect, test } from 'vitest';
import { type Child, launch } from './child.ts';
import { cutPower, type LostWrites } from './cut-power.ts';
import { type FaultyDisk, faultyDisks } from './faulty-disk.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-faulty-disk-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** Undefined without a C compiler, which CI requires. */
const disks = faultyDisks(folder);

/** Inserts rows until it is killed. Prints each number once its row is committed, and the error of an insert. */
const WRITER = `
import { DatabaseSync } from 'node:sqlite';
import { writeSync } from 'node:fs';
const database = new DatabaseSync(process.env.DATABASE);
database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 30; CREATE TABLE IF NOT EXISTS rows (n INTEGER, bytes BLOB)');
database.exec('PRAGMA synchronous = ' + process.env.SYNCHRONOUS);
const insert = database.prepare('INSERT INTO rows VALUES (?, zeroblob(3000))');
for (let n = 1; ; n += 1) {
  try {
    insert.run(n);
    writeSync(1, n + '\\n');
  } catch (error) {
    writeSync(1, error.message + '\\n');
  }
  await new Promise((resolve) => setTimeout(resolve, 2));
}`;

/** Commits through the log of the store, whose own flushes never reach the disk: the copies into the database do. */
const STORE_WRITER = `
import { DatabaseSync } from 'node:sqlite';
import { writeSync } from 'node:fs';
const { writeAheadLog } = await import(${JSON.stringify(new URL('../packages/host-kit/src/stores/sqlite/write-ahead-log.ts', import.meta.url))});
const path = process.env.DATABASE;
const database = new DatabaseSync(path);
database.exec('PRAGMA journal_mode = WAL; CREATE TABLE rows (n INTEGER)');
const reader = new DatabaseSync(path, { readOnly: true });
const log = writeAheadLog({ path, database, reader, flush: async () => {} });
for (let n = 1; ; n += 1) {
  try {
    await log.begin();
    database.exec('INSERT INTO rows VALUES (' + n + ')');
    await log.commit();
    writeSync(1, n + '\\n');
  } catch (error) {
    writeSync(1, error.message + '\\n');
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 2));
}`;

interface Writer {
  readonly child: Child;
  readonly lines: AsyncIterator<string>;
}

function startWriter(disk: FaultyDisk, database: string, synchronous: 'FULL' | 'NORMAL', program = WRITER): Writer {
  const env = { ...disk.environment, DATABASE: database, SYNCHRONOUS: synchronous };
  const child = launch(['--input-type=module', '-e', program], join(folder, 'writer.log'), env);
  child.firstLine.catch(() => {});
  const { stdout } = child.process;
  if (stdout === null) throw new Error('The writer has no stdout.');
  return { child, lines: createInterface({ input: stdout })[Symbol.asyncIterator]() };
}

/** Reads lines until one satisfies the condition. */
async function until({ lines }: Writer, condition: (line: string) => boolean): Promise<string> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('The writer ended.');
    if (condition(value)) return value;
  }
}

const isNumber = (line: string) => /^[0-9]+$/.test(line);
const isError = (line: string) => !isNumber(line);

describe.runIf(disks !== undefined)('a disk', () => {
  let count = 0;

  function diskWithDatabase(): { readonly disk: FaultyDisk; readonly database: string } {
    const name = `disk-${count++}`;
    const database = join(folder, `${name}.db`);
    const disk = disks?.({ folder, name, files: database, hasJournal: true });
    if (disk === undefined) throw new Error('No disk can be faulty here.');
    return { disk, database };
  }

  /** Cuts the power of a writer, and returns the acknowledged rows that are gone. */
  async function cut(seed: number, synchronous: 'FULL' | 'NORMAL'): Promise<LostWrites & { readonly gone: number }> {
    const { disk, database } = diskWithDatabase();
    const writer = startWriter(disk, database, synchronous);
    await until(writer, isNumber);
    disk.killAtFlush(1 + (seed % 3));
    let acknowledged = 1;
    for (let next = await writer.lines.next(); next.done !== true; next = await writer.lines.next()) {
      acknowledged = Number(next.value);
    }
    expect(await writer.child.ended).toBe('SIGKILL');
    const lost = cutPower(database, disk.journal, chance(seed));
    const opened = new DatabaseSync(database);
    expect(opened.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    const left = Number(opened.prepare('SELECT count(*) AS n FROM rows WHERE n <= ?').get(acknowledged)?.n);
    opened.close();
    return { ...lost, gone: acknowledged - left };
  }

  test('loses writes at a power cut, and none that was flushed before it was acknowledged', async () => {
    const cuts: Awaited<ReturnType<typeof cut>>[] = [];
    const isDone = () => cuts.some(({ dropped }) => dropped > 0) && cuts.some(({ torn }) => torn > 0);
    for (let seed = 1; seed <= CUTS || (seed <= MOST_CUTS && !isDone()); seed += 1) cuts.push(await cut(seed, 'FULL'));
    expect(cuts.map(({ gone }) => gone)).toEqual(cuts.map(() => 0));
    for (const { unflushed } of cuts) expect(unflushed).toBeGreaterThan(0);
    expect(isDone()).toBe(true);
  });

  test('loses acknowledged rows at a power cut when the database does not flush them', async () => {
    let gone = 0;
    for (let seed = 1; seed <= MOST_CUTS && gone === 0; seed += 1) gone = (await cut(seed, 'NORMAL')).gone;
    expect(gone).toBeGreaterThan(0);
  });

  const CUTS = 8;
  const MOST_CUTS = 40;

  test('that fails to flush the database at a checkpoint ends the store at its next commit', async () => {
    const { disk, database } = diskWithDatabase();
    const writer = startWriter(disk, database, 'NORMAL', STORE_WRITER);
    await until(writer, isNumber);
    disk.failFlush();
    expect(await until(writer, isError)).toContain(`${database}: the disk failed to flush its database`);
    expect(disk.refused().flushes).toBe(1);
    expect(await writer.child.ended).toBe('exit code 0');
  });

  test('refuses writes while it is full, and takes them afterwards', async () => {
    const { disk, database } = diskWithDatabase();
    const writer = startWriter(disk, database, 'FULL');
    await until(writer, isNumber);
    disk.fill('full');
    expect(await until(writer, isError)).toBe('database or disk is full');
    expect(disk.refused().writes).toBeGreaterThan(0);
    disk.heal();
    await until(writer, isNumber);
    writer.child.kill('SIGKILL');
    await writer.child.ended;
  });

  test('fails one flush', async () => {
    const { disk, database } = diskWithDatabase();
    const writer = startWriter(disk, database, 'FULL');
    await until(writer, isNumber);
    disk.failFlush();
    expect(await until(writer, isError)).toBe('disk I/O error');
    expect(disk.refused()).toEqual({ writes: 0, flushes: 1 });
    await until(writer, isNumber);
    writer.child.kill('SIGKILL');
    await writer.child.ended;
  });

  test('lets files be overwritten but not grow', async () => {
    const { disk, database } = diskWithDatabase();
    const program = `
      import { openSync, writeSync } from 'node:fs';
      const file = openSync(process.env.DATABASE, 'w+');
      writeSync(file, 'abc', 0);
      writeSync(1, 'ready\\n');
      process.on('message', () => {
        const tried = (at) => { try { return writeSync(file, 'xyz', at); } catch (error) { return error.code; } };
        process.send([tried(0), tried(1)]);
      });`;
    const env = { ...disk.environment, DATABASE: database };
    const child = launch(['--input-type=module', '-e', program], join(folder, 'writer.log'), env);
    await child.firstLine;
    disk.fill('growing');
    const answer = new Promise((resolve) => child.process.once('message', resolve));
    child.process.send('write');
    expect(await answer).toEqual([3, 'ENOSPC']);
    expect(disk.refused().writes).toBe(1);
    child.kill('SIGKILL');
    await child.ended;
  });
});
