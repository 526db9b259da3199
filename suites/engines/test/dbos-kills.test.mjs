// Runs on DBOS survive the kill of their host and of the database in the middle of a step.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startPostgres, workspace } from './workspace.mjs';

const server = await startPostgres();
const { folder, load } = await workspace('dbos-kills');
const { DBOSClient } = await load('@dbos-inc/dbos-sdk');
after(() => server.stop());

/** Starts a host in a process of its own. `said` resolves with the next message that has a member. */
async function launch(done) {
  const child = fork(join(folder, 'killed-host.mjs'), [server.url, done]);
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

const linesOf = (done) => readFileSync(done, 'utf8').trimEnd().split('\n');

test('a run goes on in another host after kill -9 in the middle of a step', async () => {
  const done = join(folder, 'host-killed');
  const first = await launch(done);
  first.child.send({ start: { hangs: true } });
  const runId = await first.said('runId');
  await first.said('hangs');
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');

  const second = await launch(done);
  second.child.send({ waitFor: runId });
  assert.equal(await second.said('status'), 'completed');
  second.child.send({ stop: true });
  await once(second.child, 'exit');
  assert.deepEqual(linesOf(done), ['first', 'second 0', 'second 1', 'third']);

  const client = await DBOSClient.create({ systemDatabaseUrl: server.url });
  const turns = await client.listWorkflows({ attributes: { run: runId } });
  await client.destroy();
  const told = turns.map(({ status, attributes, output }) => ({ status, epoch: attributes.epoch, output }));
  assert.deepEqual(told, [
    { status: 'CANCELLED', epoch: 0, output: undefined },
    { status: 'SUCCESS', epoch: 1, output: { status: 'completed' } },
  ]);
});

test('a run goes on after the kill of the database in the middle of a step', async () => {
  const done = join(folder, 'database-killed');
  const host = await launch(done);
  host.child.send({ start: { hangs: true } });
  const runId = await host.said('runId');
  await host.said('hangs');
  await server.crash('SIGKILL');
  host.child.send({ goOn: true });
  host.child.send({ waitFor: runId });
  assert.equal(await host.said('status'), 'completed');
  host.child.send({ stop: true });
  await once(host.child, 'exit');
  const lines = linesOf(done);
  assert.deepEqual({ first: lines[0], last: lines.at(-1) }, { first: 'first', last: 'third' });
  assert.deepEqual(
    lines.filter((line) => line === 'first'),
    ['first'],
  );
});
