import { randomBytes } from 'node:crypto';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { HOSTS } from './hosts.ts';
import { JUDGED, judge, judgement } from './judged-hosts.ts';

// Each test boots a host and runs the suite, mostly waiting.
vi.setConfig({ maxConcurrency: 2 });

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

/** Each host gets a database of its own: hosts that share one share their keys too. */
async function newDatabase(): Promise<string> {
  const name = `conformance_${randomBytes(8).toString('hex')}`;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return postgres.url.replace(/\/[^/]*$/, `/${name}`);
}

describe.concurrent('the reference host on PostgreSQL passes every check', () => {
  test.each(JUDGED)(
    'with $title',
    async ({ host, options, skips }) => {
      const at = { store: await newDatabase(), secretKey: randomBytes(32).toString('base64') };
      const report = await judge({ ...HOSTS[host], ...at }, options);
      expect(judgement(report)).toEqual({ failures: [], skips, missing: [] });
    },
    600_000,
  );
});
