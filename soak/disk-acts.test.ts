import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { soon } from './child.ts';
import { diskOfServer } from './disk-acts.ts';
import { type FaultyDisk, faultyDisks } from './faulty-disk.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-disk-acts-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** Undefined without a C compiler, which CI requires. */
const disks = faultyDisks(folder);

describe.runIf(disks !== undefined)('the disk of PostgreSQL', () => {
  let disk: FaultyDisk;
  let server: PostgresServer;

  beforeAll(async () => {
    const files = join(folder, 'postgres');
    const made = disks?.({ folder, name: 'postgres', files, hasJournal: false });
    if (made === undefined) throw new Error('No disk can be faulty here.');
    disk = made;
    server = await startPostgres({ keepIn: files, env: disk.environment });
    await ask('CREATE TABLE rows (bytes text)');
  });
  afterAll(() => server.stop());

  async function ask(statement: string): Promise<unknown> {
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(statement)).rows[0];
    } finally {
      await client.end();
    }
  }

  const INSERT = "INSERT INTO rows SELECT repeat('x', 5000) FROM generate_series(1, 100)";
  const COUNT = 'SELECT count(*)::integer AS n FROM rows';

  test('refuses to grow while it is full, and takes writes afterwards', async () => {
    const filled = diskOfServer(server, disk).fill('growing', 1500);
    // 53100: disk_full.
    await expect(ask(INSERT)).rejects.toMatchObject({ code: '53100' });
    expect((await filled)['writes refused']).toBeGreaterThan(0);
    await soon('an insert', () => ask(INSERT));
    expect(await ask(COUNT)).toEqual({ n: 100 });
  });

  test('fails a flush: the transaction is not acknowledged, and the server is there again', async () => {
    expect(await soon('a count', () => ask(COUNT))).toEqual({ n: 100 });
    const failed = diskOfServer(server, disk).failFlush(100);
    await expect(ask(INSERT)).rejects.toThrow();
    expect(await failed).toEqual({ 'flushes failed': 1 });
    await soon('an insert', () => ask(INSERT));
  });
});
