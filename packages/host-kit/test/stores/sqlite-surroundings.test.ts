import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { databaseCheck } from '../../src/stores/sqlite/check.ts';
import { databaseFile } from '../../src/stores/sqlite/database-file.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { takeOwnership } from '../../src/stores/sqlite/owner.ts';
import { isUnavailable } from '../../src/stores/sqlite/unavailable.ts';
import { writeAheadLog } from '../../src/stores/sqlite/write-ahead-log.ts';
import { sampleSubscription } from '../webhooks/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-surroundings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = () => join(folder, `${files++}.db`);

const write = (store: Store, webhookId = 'whk_1') =>
  store.transaction((transaction) => store.subscriptions.insert(sampleSubscription({ webhookId }), transaction));

/** Resolves with the cause when the store is lost. */
const lost = (store: Store) =>
  new Promise<Error>((resolve) => store.files?.watch({ lost: resolve, logGrew: () => {} }));

describe('a database in use is refused', () => {
  test('under a symbolic link, in the same folder or another one, to the file or to its folder', async () => {
    const path = newPath();
    const store = sqliteStore(path);
    const other = join(folder, 'other');
    mkdirSync(other);
    symlinkSync(path, join(other, 'link.db'));
    symlinkSync('link.db', join(other, 'again.db'));
    symlinkSync(folder, join(other, 'folder'));
    for (const name of ['link.db', 'again.db', join('folder', path.slice(folder.length + 1))])
      expect(() => sqliteStore(join(other, name))).toThrow('another host uses this database');
    await store.close();
    const again = sqliteStore(join(other, 'again.db'));
    expect(() => sqliteStore(path)).toThrow('another host uses this database');
    await again.close();
  });

  test('while it has a second name, a hard link', async () => {
    const path = newPath();
    const store = sqliteStore(path);
    linkSync(path, `${path}-linked`);
    expect(() => sqliteStore(`${path}-linked`)).toThrow(/has 2 names \(hard links\)/);
    await store.close();
    expect(() => sqliteStore(path)).toThrow(/Remove the others, or copy the file\.$/);
    rmSync(`${path}-linked`);
    await sqliteStore(path).close();
  });

  test('after its lock file was removed, because the owner makes it anew', () => {
    const path = newPath();
    new DatabaseSync(path).exec('CREATE TABLE t (x)');
    const owner = takeOwnership({ path, graceMs: 0 });
    for (const tidiedUp of [() => rmSync(`${path}-owner`), () => renameSync(`${path}-owner`, `${path}-moved`)]) {
      tidiedUp();
      owner.renew();
      expect(() => takeOwnership({ path, graceMs: 0 })).toThrow('another host uses this database');
    }
    owner.release();
    takeOwnership({ path, graceMs: 0 }).release();
  });

  test('by the former owner, when another process took it after its lock file was removed', () => {
    const path = newPath();
    new DatabaseSync(path).exec('CREATE TABLE t (x)');
    const owner = takeOwnership({ path, graceMs: 0 });
    rmSync(`${path}-owner`);
    const other = takeOwnership({ path, graceMs: 0 });
    expect(() => owner.renew()).toThrow('another host uses this database');
    other.release();
    owner.release();
  });

  test('a link to a file that is missing names the database that is made', async () => {
    const path = newPath();
    symlinkSync(path, `${path}-link`);
    const store = sqliteStore(`${path}-link`);
    await write(store);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    await store.close();
  });
});

test.each([
  ['a folder that is missing', () => join(folder, 'missing', 'svc.db')],
  ['a folder', () => folder],
])('the path of %s is refused with a TypeError that names it', (_what, path) => {
  expect(() => sqliteStore(path())).toThrow(TypeError);
  expect(() => sqliteStore(path())).toThrow(`path: ${path()} cannot be opened.`);
});

test('every probe writes to the disk', async () => {
  const path = newPath();
  const store = sqliteStore(path);
  const sizes: number[] = [];
  for (let probes = 0; probes < 3; probes++) {
    await store.probe();
    sizes.push(statSync(`${path}-wal`).size);
  }
  expect(sizes[1]).toBeGreaterThan(sizes[0] ?? 0);
  expect(sizes[2]).toBeGreaterThan(sizes[1] ?? 0);
  await store.close();
});

describe('a write while another process holds the lock of writers', () => {
  test('waits without blocking this process, and succeeds', async () => {
    const path = newPath();
    const store = sqliteStore(path);
    const shell = new DatabaseSync(path);
    shell.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const counting = setInterval(() => turns++, 5);
    const writes = Promise.all(Array.from({ length: 20 }, (_, index) => write(store, `whk_${index}`)));
    // The timer goes on while the lock is held. A process that is blocked would not get here before its writes fail.
    await expect.poll(() => turns).toBeGreaterThan(5);
    shell.exec('COMMIT');
    shell.close();
    await writes;
    clearInterval(counting);
    await store.close();
  });

  test('is given up after a time limit, as a failure of the store', async () => {
    const path = newPath();
    const shell = new DatabaseSync(path);
    shell.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x)');
    const [database, reader] = [new DatabaseSync(path), new DatabaseSync(path)];
    const log = writeAheadLog({ path, database, reader, busyMs: 50 });
    shell.exec('BEGIN IMMEDIATE');
    const error = await log.begin().catch((cause: unknown) => cause);
    expect(isUnavailable(error)).toBe(true);
    shell.exec('COMMIT');
    await log.begin();
    for (const open of [shell, database, reader]) open.close();
  });
});

describe('a store whose files go away', () => {
  const FAULTS: readonly (readonly [string, RegExp, (path: string) => void])[] = [
    ['the database is deleted', /was deleted while the host used it/, (path) => rmSync(path)],
    [
      'the database is replaced',
      /was replaced by another file/,
      (path) => {
        copyFileSync(path, `${path}-copy`);
        renameSync(`${path}-copy`, path);
      },
    ],
    ['its log is deleted', /-wal: was deleted/, (path) => rmSync(`${path}-wal`)],
  ];

  test.each(FAULTS)('acknowledges no write once %s, and says so', async (_fault, message, happen) => {
    const path = newPath();
    const store = sqliteStore(path);
    await write(store);
    const told = lost(store);
    happen(path);
    for (let attempt = 0; attempt < 3; attempt++) {
      const error = await write(store, `whk_${2 + attempt}`).then(
        () => undefined,
        (cause: unknown) => cause,
      );
      expect(error).toMatchObject({ message: expect.stringMatching(message) });
      expect(store.isUnavailable?.(error)).toBe(true);
    }
    expect((await told).message).toMatch(message);
    // One who asks later is told, too.
    expect((await lost(store)).message).toMatch(message);
    await expect(store.probe()).rejects.toThrow(message);
    await store.close();
  });

  test('is told without a write, by a look every second', async () => {
    const path = newPath();
    new DatabaseSync(path).exec('CREATE TABLE t (x)');
    const file = databaseFile({ path, owner: { renew: () => {} }, everyMs: 5 });
    const told = new Promise<Error>((resolve) => file.watch({ lost: resolve, logGrew: () => {} }));
    rmSync(path);
    expect((await told).message).toMatch(/was deleted/);
    expect(() => file.requirePresent()).toThrow(/was deleted/);
    file.close();
  });

  test('is told when another host took the lock', async () => {
    const path = newPath();
    new DatabaseSync(path).exec('CREATE TABLE t (x)');
    const renew = () => {
      throw new Error('another host uses this database');
    };
    const file = databaseFile({ path, owner: { renew }, everyMs: 5 });
    const told = await new Promise<Error>((resolve) => file.watch({ lost: resolve, logGrew: () => {} }));
    expect(told.message).toBe('another host uses this database');
    file.close();
  });

  test('is told when the disk fails to flush a commit', async () => {
    const path = newPath();
    const [database, reader] = [new DatabaseSync(path), new DatabaseSync(path)];
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x)');
    const file = databaseFile({ path, owner: { renew: () => {} } });
    const told = new Promise<Error>((resolve) => file.watch({ lost: resolve, logGrew: () => {} }));
    const flush = () => Promise.reject(new Error('EIO'));
    const log = writeAheadLog({ path, database, reader, file, flush });
    await log.begin();
    database.exec('INSERT INTO t VALUES (1)');
    await expect(log.commit()).rejects.toThrow('the disk failed to flush a commit');
    expect((await told).message).toMatch('Check the disk and restart the host.');
    await expect(log.begin()).rejects.toBe(await told);
    file.close();
    log.close();
  });
});

test('a log that grows beyond its bound is told once, and again after it has shrunk', async () => {
  const path = newPath();
  const [database, reader, shell] = [new DatabaseSync(path), new DatabaseSync(path), new DatabaseSync(path)];
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x)');
  const file = databaseFile({ path, owner: { renew: () => {} }, longLogBytes: 200_000 });
  const told: number[] = [];
  file.watch({ lost: () => {}, logGrew: (bytes) => told.push(bytes) });
  const log = writeAheadLog({ path, database, reader, file });
  // A read transaction prevents that the log starts anew.
  shell.exec('BEGIN');
  shell.prepare('SELECT * FROM t').all();
  for (let commit = 0; commit < 60; commit++) {
    await log.begin();
    database.exec('INSERT INTO t VALUES (zeroblob(8000))');
    await log.commit();
  }
  expect(told.length).toBe(1);
  expect(told[0]).toBeGreaterThan(200_000);
  shell.exec('COMMIT');
  file.logIs(150_000);
  file.logIs(300_000);
  expect(told.length).toBe(1);
  file.logIs(100_000);
  file.logIs(300_000);
  expect(told.length).toBe(2);
  file.close();
  log.close();
  for (const open of [database, reader, shell]) open.close();
});

describe('the check for damage', () => {
  /** Makes a database whose table is destroyed in the middle. */
  async function damaged(): Promise<string> {
    const path = newPath();
    const store = sqliteStore(path);
    for (let index = 0; index < 50; index++) await write(store, `whk_${index}`);
    await store.close();
    const descriptor = openSync(path, 'r+');
    const { size } = statSync(path);
    for (let at = 8192; at < size; at += 4096) writeSync(descriptor, Buffer.alloc(2048, 0xa5), 0, 2048, at);
    return path;
  }

  function checked(path: string, inlineBytes: number) {
    const reader = new DatabaseSync(path, { readOnly: true });
    const failures: Error[] = [];
    const check = databaseCheck({ path, reader, inlineBytes, file: { fail: (cause) => failures.push(cause) } });
    const close = () => {
      check.close();
      reader.close();
    };
    return { check, failures, close };
  }

  test.each([
    ['here', 1e9],
    ['by a process of its own', 0],
  ])('finds a sound database sound, and names the damage of another (%s)', async (_where, inlineBytes) => {
    const sound = newPath();
    await sqliteStore(sound).close();
    const first = checked(sound, inlineBytes);
    expect(await first.check.check(60_000)).toBe('sound');
    first.close();
    const second = checked(await damaged(), inlineBytes);
    await expect(second.check.check(60_000)).rejects.toThrow(
      /the database is damaged \(.+\)\. Restore it from a backup/,
    );
    second.close();
  });

  test('goes on beside the host when its budget is over, and then tells damage', async () => {
    const { check, failures, close } = checked(await damaged(), 0);
    expect(await check.check(0)).toBe('unfinished');
    while (failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(failures[0]?.message).toMatch(/the database is damaged/);
    close();
  });
});
