// Follows docs/scale.md as it is printed: one file on SQLite, two hosts on PostgreSQL, and the engine on DBOS.
import { join } from 'node:path';
import { env } from 'node:process';
import { after, test } from 'node:test';
import { walkThrough } from '../../../tools/walk-through.mjs';
import { startPostgres } from './workspace.mjs';

const server = await startPostgres();
after(() => server.stop());

test('docs/scale.md leads from one file to two hosts on PostgreSQL and to DBOS as printed', async () => {
  const { SVC_CHECKOUT: checkout, SVC_TARBALLS: tarballs } = env;
  env.DATABASE_URL = server.url;
  await walkThrough(join(checkout, 'docs/scale.md'), { checkout, tarballs });
});
