// Runs on Restate survive the kill of their host and of Restate in the middle of a step.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { freePort } from '../../../tools/free-port.ts';
import { startRestate } from './restate-server.mjs';
import { startPostgres, workspace } from './workspace.mjs';

const database = await startPostgres();
const server = await startRestate();
after(() => Promise.all([server.stop(), database.stop()]));
const { folder } = await workspace('restate-kills');
const { ingressUrl, adminUrl } = server;

/** Starts a host in a process of its own. `said` resolves with the next message that has a member. */
async function launch(done, port = 0) {
  const restate = JSON.stringify({ ingressUrl, adminUrl, port });
  const child = fork(join(folder, 'killed-host.mjs'), [database.url, done, restate]);
  const messages = [];
  child.on('message', (message) => messages.push(message));
  const said = async (member) => {
    for (;;) {
      const found = messages.findIndex((message) => member in message);
      if (found >= 0) return messages.splice(found, 1)[0][member];
      await once(child, 'message');
    }
  };
  await said('isReady');
  return { child, said };
}

/** Starts a run, and comes back when it is in its step `second`. */
async function hanging(done, port) {
  const host = await launch(done, port);
  host.child.send({ start: { hangs: true } });
  const runId = await host.said('runId');
  await host.said('hangs');
  return { host, runId };
}

async function kill({ child }) {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Waits until a host has completed a run, and stops the host. */
async function completes({ child, said }, runId) {
  child.send({ waitFor: runId });
  assert.equal(await said('status'), 'completed');
  child.send({ stop: true });
  await once(child, 'exit');
}

const linesOf = (done) => readFileSync(done, 'utf8').trimEnd().split('\n');

/** The invocations of a run: its epoch, the outcome, and the names of the steps. */
async function turnsOf(runId) {
  const rows = await server.query(
    `SELECT id, idempotency_key, status, completion_result, completion_failure FROM sys_invocation WHERE starts_with(idempotency_key, '${runId}:') ORDER BY created_at`,
  );
  return Promise.all(
    rows.map(async ({ id, idempotency_key: key, status, completion_result: result, completion_failure: failure }) => {
      const steps = await server.query(
        `SELECT name FROM sys_journal WHERE id = '${id}' AND entry_type = 'Command: Run' ORDER BY index`,
      );
      return [Number(key.split(':')[1]), failure ?? result ?? status, steps.map(({ name }) => name)];
    }),
  );
}

/** Waits until Restate has no invocation of a run that has not ended. */
async function settled(runId) {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if ((await turnsOf(runId)).every(([, outcome]) => ENDED.test(outcome))) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const ENDED = /^(?:success|\[\d+\] )/;

test('a run goes on in another host after kill -9 in the middle of a step', async () => {
  const done = join(folder, 'host-killed');
  const { host, runId } = await hanging(done);
  await kill(host);
  await completes(await launch(done), runId);
  assert.deepEqual(linesOf(done), ['first', 'second 0', 'second 1', 'third']);
  await settled(runId);
  assert.deepEqual(await turnsOf(runId), [
    [0, '[409] killed', ['first']],
    [1, 'success', ['second', 'third']],
  ]);
});

test('a run goes on after kill -9 of Restate in the middle of a step, and repeats nothing', async () => {
  const done = join(folder, 'server-killed');
  const { host, runId } = await hanging(done);
  await server.crash();
  await server.start();
  host.child.send({ goOn: true });
  await completes(host, runId);
  assert.deepEqual(linesOf(done), ['first', 'second 0', 'third']);
  assert.deepEqual(await turnsOf(runId), [[0, 'success', ['first', 'second', 'third']]]);
});

test('a step that ends while Restate is down is recorded, and the next one begins when Restate is back', async () => {
  const done = join(folder, 'server-down');
  const { host, runId } = await hanging(done);
  await server.crash();
  host.child.send({ goOn: true });
  host.child.send({ recorded: runId, type: 'node.completed', count: 2 });
  assert.equal(await host.said('recorded'), true);
  assert.deepEqual(linesOf(done), ['first', 'second 0']);
  await server.start();
  await completes(host, runId);
  assert.deepEqual(linesOf(done), ['first', 'second 0', 'third']);
  assert.deepEqual(await turnsOf(runId), [[0, 'success', ['first', 'second', 'third']]]);
});

test('a run goes on when Restate comes back without its data, because the log is the record', async () => {
  const done = join(folder, 'server-lost');
  const { host, runId } = await hanging(done);
  await server.crash();
  server.forget();
  await server.start();
  host.child.send({ goOn: true });
  await completes(host, runId);
  assert.deepEqual(linesOf(done), ['first', 'second 0', 'third']);
  assert.deepEqual(await turnsOf(runId), [[0, 'success', ['first', 'second', 'third']]]);
});

test('a run goes on after kill -9 of both, in a process at the address of the killed one', async () => {
  const done = join(folder, 'both-killed');
  const port = await freePort();
  const { host, runId } = await hanging(done, port);
  await Promise.all([kill(host), server.crash()]);
  await server.start();
  // Restate calls it for the turn of the killed process at once, which executes nothing.
  await completes(await launch(done, port), runId);
  assert.deepEqual(linesOf(done), ['first', 'second 0', 'second 1', 'third']);
  await settled(runId);
  const [[epoch, outcome], ...others] = await turnsOf(runId);
  assert.equal(epoch, 0);
  assert.notEqual(outcome, 'success');
  assert.deepEqual(others, [[1, 'success', ['second', 'third']]]);
});
