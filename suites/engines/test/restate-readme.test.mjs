// Follows the first screen of packages/engine-restate/README.md as it is printed.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { env } from 'node:process';
import { after, test } from 'node:test';
import { walkThrough } from '../../../tools/walk-through.mjs';
import { startRestate } from './restate-server.mjs';

const server = await startRestate();
after(() => server.stop());

test('the first screen runs as printed, and Restate has the turns of its run', async () => {
  const { SVC_CHECKOUT: checkout, SVC_TARBALLS: tarballs } = env;
  Object.assign(env, { RESTATE_INGRESS: server.ingressUrl, RESTATE_ADMIN: server.adminUrl });
  await walkThrough(join(checkout, 'packages/engine-restate/README.md'), { checkout, tarballs, section: 'Start' });
  const turns = await server.query('SELECT completion_result FROM sys_invocation ORDER BY created_at');
  assert.equal(turns.length, 2);
  assert.equal(turns[1].completion_result, 'success');
});
