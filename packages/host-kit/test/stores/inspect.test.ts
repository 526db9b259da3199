import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { keyCoverageOf } from '../../src/index.ts';
import { sealedForSecret } from '../../src/ports/byok.ts';
import { sealedForAnswer } from '../../src/ports/captured-answers.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { inspectSqlite, sqliteStore } from '../../src/stores/sqlite/index.ts';
import { sampleDelivery, sampleSubscription } from '../webhooks/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-inspect-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [KEY, FORMER, OTHER] = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

/** Opens a store with a webhook secret of `FORMER`, and secrets of a tenant of `KEY`. */
async function seeded(path: string) {
  const store = sqliteStore(path);
  const [box, former] = [secretBox(KEY, systemRandom), secretBox(FORMER, systemRandom)];
  await store.transaction(async (transaction) => {
    const subscription = sampleSubscription({ webhookId: 'whk_1', sealedSecret: former.seal('whsec', 'whk_1') });
    await store.subscriptions.insert(subscription, transaction);
    await store.deliveries.enqueue([sampleDelivery({ deliveryId: 'dlv_1', webhookId: 'whk_1' })], transaction);
    const place = { webhookId: 'whk_1', deliveryId: 'dlv_1', attempt: 1, at: 5 };
    const answer = { ...place, expiresAt: 9, sealed: box.seal('answer', sealedForAnswer(place)) };
    await store.capturedAnswers.add([answer], transaction);
    for (const place of [
      { tenant: 'acme', mode: 'live' } as const,
      { tenant: 'acme', workspace: 'dev', mode: 'test' } as const,
    ]) {
      const sealed = box.seal('value', sealedForSecret(place, 'token'));
      await store.byok.put({ ...place, name: 'token', sealed, createdAt: 1, updatedAt: 1 }, transaction);
    }
  });
  return store;
}

test('an inspection copies the committed state beside a store that is open, without companions', async () => {
  const path = join(folder, 'open.db');
  const store = await seeded(path);
  const copy = join(folder, 'copy.db');
  const inspection = inspectSqlite(path);
  inspection.copyTo(copy);
  expect(() => inspection.copyTo(copy)).toThrow();
  inspection.close();
  const copied = inspectSqlite(copy);
  expect(copied.pending()).toEqual({ runs: 0, deliveries: 1, subscriptions: 1 });
  expect(copied.damage()).toEqual([]);
  expect(copied.schemaVersion).toBe(copied.knownSchemaVersion);
  expect([...copied.sealedRecords()]).toHaveLength(4);
  copied.close();
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.db']);
  await store.close();
});

test.each<[string, readonly Uint8Array[], number, readonly Uint8Array[]]>([
  ['all keys', [KEY, FORMER], 0, []],
  ['the former key alone', [FORMER], 3, [KEY]],
  ['the current key alone', [KEY], 1, [FORMER]],
  ['another key', [OTHER], 4, [FORMER, KEY]],
  ['no key', [], 4, [FORMER, KEY]],
])('keyCoverageOf with %s', async (given, keys, unopenable, missing) => {
  const path = join(folder, `${given}.db`);
  await (await seeded(path)).close();
  const inspection = inspectSqlite(path);
  expect(await keyCoverageOf(inspection.sealedRecords(), keys)).toEqual({
    records: 4,
    unopenable,
    keyIds: [FORMER, KEY].map(idOf),
    missingKeyIds: missing.map(idOf),
  });
  inspection.close();
});

test.each<[string, (path: string) => void, RegExp]>([
  ['a missing file', () => {}, /cannot be read as a database/],
  ['a file of another kind', (path) => writeFileSync(path, 'text '.repeat(1000)), /cannot be read as a database/],
  ['an empty file', (path) => writeFileSync(path, ''), /is not the database of a host/],
  ['a schema of a newer kit', (path) => versioned(path, 999), /schema version 999; .* Upgrade the kit\.$/],
])('inspectSqlite refuses %s', (kind, make, message) => {
  const path = join(folder, `${kind}.db`);
  make(path);
  expect(() => inspectSqlite(path)).toThrow(message);
});

function idOf(key: Uint8Array): string {
  return secretBox(key, systemRandom).keyIds[0];
}

function versioned(path: string, version: number): void {
  const database = new DatabaseSync(path);
  database.exec(`CREATE TABLE t (a); PRAGMA user_version = ${version}`);
  database.close();
}
