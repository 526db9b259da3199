import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import type { Run } from '../../src/ports/runs.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { sampleRun, TENANCY } from '../../src/testing/store-contract/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-legacy-'));
const postgres = await startPostgres();
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A run as a host of major 1 stored it. */
const STORED: Run = Object.freeze(
  JSON.parse(JSON.stringify({ ...sampleRun({ status: 'running' }), engineVersion: '7' })),
);
const path = join(folder, 'svc.db');

/** The stores that outlive their process, each with a function that reads the document from the database itself. */
const STORES = [
  { name: 'sqlite', open: () => sqliteStore(path), document: inSqlite },
  { name: 'postgres', open: () => postgresStore({ url: postgres.url }), document: inPostgres },
];

describe.each(STORES)(`${covers('versioning.axes.engine-version-not-rewritten')} $name`, ({ open, document }) => {
  test('reads and updates of a run leave its stored document as it was', async () => {
    const store = await open();
    await store.transaction((transaction) => store.runs.insert(STORED, transaction));
    const before = await document();
    expect(JSON.parse(before).engineVersion).toBe('7');
    const { runId } = STORED;
    const found = await store.runs.read(TENANCY, runId);
    expect(found).toMatchObject({ kind: 'found', value: { engineVersion: 7 } });
    await store.runs.list(TENANCY, { before: undefined, limit: 10 });
    await store.runs.unfinished({ after: undefined, limit: 10 });
    await store.transaction(async (transaction) => {
      const [run] = await store.runs.forAppend([runId], transaction);
      await store.runs.readForChange(TENANCY, runId, transaction);
      if (run !== undefined) await store.runs.update([{ ...run, lastSequence: 4 }], transaction);
    });
    expect(await document()).toBe(before);
    await store.close();
  });
});

async function inSqlite(): Promise<string> {
  const database = new DatabaseSync(path, { readOnly: true });
  const document = database.prepare('SELECT document FROM runs').get()?.document;
  database.close();
  return String(document);
}

async function inPostgres(): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query('SELECT document FROM svc.runs');
  await client.end();
  return rows[0].document;
}
