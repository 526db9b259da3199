import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { covers } from '@svc/tools/covers';
import { afterAll, describe, expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { storeContract } from '../../src/testing/store-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-store-'));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STORES = [
  { name: 'memory', open: () => memoryStore() },
  { name: 'sqlite', open: () => sqliteStore(join(folder, `${files++}.db`)) },
];

describe.each(STORES)(`the $name store: ${covers('auth.tenancy.in-the-query')}`, ({ open }) => {
  storeContract({
    test,
    open,
    assert: {
      deepEqual: (actual, expected) => expect(actual).toEqual(expected),
      rejects: (promise) => expect(promise).rejects.toThrow(),
    },
  });
});

test('a database file has one user at a time', async () => {
  const path = join(folder, 'owned.db');
  const first = sqliteStore(path);
  expect(() => sqliteStore(path)).toThrow('another host uses this database');
  await first.close();
  await sqliteStore(path).close();
});
