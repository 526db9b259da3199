import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { secretKeyFile } from '@svc/host-kit/node';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'svc-secret-key-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newDatabase = () => join(folder, `${files++}.db`);

test('makes a key of 32 bytes for this user alone, and returns the same one afterwards', () => {
  const path = `${newDatabase()}-secret-key`;
  const key = secretKeyFile(path);
  expect(key.length).toBe(32);
  expect(new Uint8Array(readFileSync(path))).toEqual(key);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o77).toBe(0);
  expect(secretKeyFile(path)).toEqual(key);
  expect(secretKeyFile(`${newDatabase()}-secret-key`)).not.toEqual(key);
});

test('draws the key from the source that it is given', () => {
  const key = secretKeyFile(`${newDatabase()}-secret-key`, { random: (size) => new Uint8Array(size).fill(7) });
  expect(key).toEqual(new Uint8Array(32).fill(7));
});

test('makes a key beside a database that no host has used, so the order of store and key does not matter', async () => {
  const database = newDatabase();
  const store = sqliteStore(database);
  expect(secretKeyFile(`${database}-secret-key`).length).toBe(32);
  await store.close();
});

test('makes no key beside a database that a host has used', async () => {
  const database = newDatabase();
  const store = sqliteStore(database);
  await store.sealingKeys.add(['0123456789abcdef']);
  const refused = () => secretKeyFile(`${database}-secret-key`);
  const message = `secretKeyFile: ${database}-secret-key is missing, and ${database} is in use with its key. Restore the file from the backup of the database.`;
  expect(refused).toThrow(message);
  await store.close();
  expect(refused).toThrow(message);
});

test('looks at the database that it is given, and makes no key beside one that it cannot judge', () => {
  const [own, unreadable] = [newDatabase(), newDatabase()];
  const database = new DatabaseSync(own);
  database.exec('CREATE TABLE orders (id)');
  database.close();
  writeFileSync(unreadable, 'no database');
  expect(() => secretKeyFile(join(folder, 'a.key'), { database: own })).toThrow('a.key is missing');
  expect(() => secretKeyFile(`${unreadable}-secret-key`)).toThrow('-secret-key is missing');
  const empty = newDatabase();
  writeFileSync(empty, '');
  expect(secretKeyFile(`${empty}-secret-key`).length).toBe(32);
});

test('refuses a file of another length, a folder that is missing, and no path', () => {
  const path = `${newDatabase()}-secret-key`;
  writeFileSync(path, 'short');
  chmodSync(path, 0o600);
  expect(() => secretKeyFile(path)).toThrow(`secretKeyFile: ${path} must have 32 bytes, not 5. Restore it`);
  const missing = join(folder, 'missing');
  expect(() => secretKeyFile(join(missing, 'svc.db-secret-key'))).toThrow(`The folder ${missing} does not exist.`);
  const given: string | undefined = JSON.parse('{}').path;
  expect(() => Reflect.apply(secretKeyFile, undefined, [given])).toThrow('secretKeyFile: path is required.');
});
