import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { chance } from '@svc/tools/chance';
import { afterAll, expect, test } from 'vitest';
import { ATTEMPTS_KEPT, type AttemptRecord } from '../../src/ports/attempts.ts';
import type { Store } from '../../src/ports/store.ts';
import { decoded, encoded } from '../../src/stores/sqlite/attempt-journal.ts';
import { attemptLog } from '../../src/stores/sqlite/attempts.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { migrate } from '../../src/stores/sqlite/migrate.ts';
import { writeAheadLog } from '../../src/stores/sqlite/write-ahead-log.ts';
import { writer as openWriter } from '../../src/stores/sqlite/writer.ts';
import { TENANCY } from '../../src/testing/store-contract/samples.ts';
import { sampleSubscription } from '../webhooks/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-attempts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function attemptAt(webhookId: string, at: number): AttemptRecord {
  return {
    ...{ deliveryId: `dlv_${at}`, webhookId, runId: 'run_1', sequence: at, eventType: 'run.completed', attempt: 1, at },
    durationMs: at / 8,
    outcome: at % 2 === 0 ? 'failed' : 'delivered',
    status: at % 2 === 0 ? undefined : 204,
    reason: at % 2 === 0 ? 'timeout' : undefined,
    ...(at % 3 === 0 && { phases: [{ phase: 'resolve', durationMs: 0.125 }] }),
  };
}

/** Copies the files of a store that is open: they are as a killed process leaves them. */
function killed(path: string, name: string): string {
  const copy = join(folder, name);
  for (const companion of ['', '-wal']) {
    if (existsSync(`${path}${companion}`)) copyFileSync(`${path}${companion}`, `${copy}${companion}`);
  }
  return copy;
}

test('a row of the journal has its attempts, with every member', () => {
  const attempts = [1, 2, 3, 6].map((at) => ({ position: at, record: attemptAt('whk_"1\u2028', at) }));
  expect(decoded(encoded(attempts))).toEqual(attempts);
});

/** Opens the attempt log of a database of its own, with low limits, so that attempts are often moved. */
function smallLog(path: string) {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL');
  migrate(database);
  const reader = new DatabaseSync(path, { readOnly: true });
  const log = writeAheadLog({ path, database, reader });
  const writer = openWriter(database, log);
  const insert = database.prepare(`INSERT INTO subscriptions
    (webhook_id, tenant, mode, status, circuit, failures, sealed_secret, secret_fingerprint, document)
    VALUES (?, 't', 'live', 'active', '{}', '[]', x'00', '', '{}')`);
  const remove = database.prepare('DELETE FROM subscriptions WHERE webhook_id = ?');
  const found = reader.prepare('SELECT 1 FROM subscriptions WHERE webhook_id = ?');
  const exists = (webhookId: string) => found.get(webhookId) !== undefined;
  const most = { inMemory: 150, inRows: 400, movesBetween: 4 };
  const attempts = attemptLog({ reader, database, writer, exists, most });
  const rows = () => Number(database.prepare('SELECT count(*) AS count FROM attempt_journal').get()?.count);
  return {
    ...{ attempts, writer, insert, remove, rows },
    async close() {
      await writer.idle();
      log.close();
      reader.close();
      database.close();
    },
  };
}

test.each(Array.from({ length: 8 }, (_, index) => index + 1))(
  'the last attempts of each subscription are listed, also after the process was killed (seed %i)',
  async (seed) => {
    const luck = chance(seed);
    const path = join(folder, `small-${seed}.db`);
    let log = smallLog(path);
    const expected = new Map<string, AttemptRecord[]>();
    let at = 0;
    let ids = 0;
    const listed = async () => {
      for (const [webhookId, records] of expected) {
        const newest = records.toReversed().slice(0, ATTEMPTS_KEPT);
        expect(await log.attempts.list(webhookId, 1000)).toEqual(newest);
        expect(await log.attempts.list(webhookId, 3)).toEqual(newest.slice(0, 3));
      }
    };
    const record = async () => {
      const ids = [...expected.keys()];
      const records = Array.from({ length: 1 + luck.below(20) }, () =>
        attemptAt(ids[luck.below(ids.length)] ?? 'whk_0', at++),
      );
      const isUndone = luck.happens(0.1);
      const done = log.writer.transaction(async (transaction) => {
        await log.attempts.record(records, transaction);
        if (isUndone) throw new Error('undone');
      });
      await done.catch(() => {});
      if (!isUndone) for (const each of records) expected.get(each.webhookId)?.push(each);
    };
    const register = () =>
      log.writer.transaction(async () => {
        log.insert.run(`whk_${ids}`);
        expected.set(`whk_${ids++}`, []);
      });
    const unregister = (webhookId: string) =>
      log.writer.transaction(async (transaction) => {
        log.remove.run(webhookId);
        log.attempts.drop(webhookId, transaction);
        expected.delete(webhookId);
      });
    for (let count = 1 + luck.below(6); count > 0; count--) await register();
    for (let step = 0; step < 150; step++) {
      const what = luck.next();
      if (what < 0.9) await record();
      else if (what < 0.93) await register();
      else if (what < 0.95 && expected.size > 1) await unregister([...expected.keys()][0] ?? '');
      else if (what < 0.97) await log.attempts.tidy();
      else await listed();
      // Each row has up to 20 attempts.
      expect(log.rows()).toBeLessThan(400);
      if (step % 50 !== 49) continue;
      const copy = killed(path, `small-${seed}-${step}.db`);
      const former = log;
      log = smallLog(copy);
      await listed();
      await log.close();
      log = former;
    }
    await listed();
    await log.close();
  },
);

async function withAttempts(store: Store, count: number): Promise<void> {
  await store.transaction((transaction) =>
    store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_1' }), transaction),
  );
  for (let at = 0; at < count; at++) {
    await store.transaction((transaction) => store.attempts.record([attemptAt('whk_1', at)], transaction));
  }
}

test('a store that is closed leaves every attempt in the rings, and one that is killed in the journal', async () => {
  const path = join(folder, 'closed.db');
  const store = sqliteStore(path);
  await withAttempts(store, 5);
  const afterKill = sqliteStore(killed(path, 'killed.db'));
  expect(await afterKill.attempts.list('whk_1', 9)).toEqual(await store.attempts.list('whk_1', 9));
  expect((await afterKill.attempts.list('whk_1', 9)).length).toBe(5);
  await afterKill.close();
  await store.close();
  const database = new DatabaseSync(path);
  expect(database.prepare('SELECT count(*) AS count FROM attempt_journal').get()).toEqual({ count: 0 });
  expect(database.prepare('SELECT count(*) AS count FROM attempts').get()).toEqual({ count: 5 });
  database.close();
});

test('the attempts of a removed subscription leave the file with the next sweep', async () => {
  const path = join(folder, 'swept.db');
  const store = sqliteStore(path);
  await withAttempts(store, 3);
  await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction));
  await store.deliveries.sweep(1, 10);
  const database = new DatabaseSync(path, { readOnly: true });
  for (const table of ['attempt_journal', 'attempts']) {
    expect(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()).toEqual({ count: 0 });
  }
  database.close();
  await store.close();
});
