// Follows the first screen of packages/engine-dbos/README.md as it is printed, and the commands of DBOS that it names.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { after, test } from 'node:test';
import { walkThrough } from '../../../tools/walk-through.mjs';
import { startPostgres } from './workspace.mjs';

const server = await startPostgres();
after(() => server.stop());

test('the first screen runs as printed, and DBOS lists the turns of its run', async () => {
  const { SVC_CHECKOUT: checkout, SVC_TARBALLS: tarballs } = env;
  env.DATABASE_URL = server.url;
  await walkThrough(join(checkout, 'packages/engine-dbos/README.md'), { checkout, tarballs, section: 'Start' });
  const command = join(import.meta.dirname, '../node_modules/@dbos-inc/dbos-sdk/dist/src/cli/cli.js');
  const listed = (...args) => {
    const { status, stdout } = spawnSync(execPath, [command, 'workflow', ...args, '--sys-db-url', server.url], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.equal(status, 0, stdout);
    return stdout;
  };
  const turns = listed('list');
  assert.match(turns, /run_[0-9a-z]+:0:0/);
  assert.match(turns, /CANCELLED/);
  assert.match(turns, /SUCCESS/);
  const [second] = /run_[0-9a-z]+:1:[0-9]+/.exec(turns) ?? [];
  assert.match(listed('steps', second), /publish/);
});
