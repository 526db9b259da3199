// Starts real brokers, and kills the host and the broker while messages start runs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { packedWorkspace } from '../../../tools/packed-workspace.mjs';
import { amqpBroker, eventually, natsBroker, pgBossBroker, postgresBroker } from '../brokers.mjs';

const { folder, load, remove } = await packedWorkspace(join(import.meta.dirname, '..'));
after(remove);
copyFileSync(join(import.meta.dirname, '../host.mjs'), join(folder, 'host.mjs'));

const BROKERS = { nats: natsBroker, amqp: amqpBroker, 'pg-boss': pgBossBroker, postgres: () => postgresBroker(load) };
const MESSAGES = 1000;

/** Starts the host, and waits until it consumes. */
async function launch(database, name, broker) {
  const args = [join(folder, 'host.mjs'), database, name, JSON.stringify(broker.options), broker.queue];
  const child = spawn(execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const problems = [];
  createInterface({ input: child.stderr }).on('line', (line) => problems.push(line));
  const exited = once(child, 'exit');
  const ready = once(createInterface({ input: child.stdout }), 'line');
  await Promise.race([ready, exited]);
  assert.equal(child.exitCode, null, problems.join('\n'));
  return {
    async end(signal) {
      child.kill(signal);
      await exited;
    },
  };
}

/** Reads the database of a host, which has locked it for every other writer. */
function reading(database, statement) {
  const reader = new DatabaseSync(database, { readOnly: true });
  try {
    return reader.prepare(statement).all();
  } finally {
    reader.close();
  }
}

/** The orders of all runs. */
function ordersIn(database) {
  return reading(database, 'SELECT document FROM runs').map(({ document }) => JSON.parse(document).inputs.order);
}

const untilCount = (database, count) =>
  eventually(async () => assert.ok(ordersIn(database).length >= count, `fewer than ${count} runs`));

for (const [name, open] of Object.entries(BROKERS)) {
  describe(name, () => {
    test(`${MESSAGES} messages start ${MESSAGES} runs, though the host is killed three times and the broker once`, async () => {
      const scratch = mkdtempSync(join(tmpdir(), 'svc-queues-'));
      const database = join(scratch, 'svc.db');
      const broker = await open();
      let host;
      try {
        host = await launch(database, name, broker);
        const orders = Array.from({ length: MESSAGES }, (_, n) => `order-${String(n).padStart(4, '0')}`);
        const wave = MESSAGES / 4;
        for (const kills of [0, 1, 2]) {
          const messages = orders.slice(kills * wave, (kills + 1) * wave).map((order) => JSON.stringify({ order }));
          const sending = broker.send(messages);
          // While the messages of the wave are taken.
          await untilCount(database, kills * wave + 1);
          await host.end('SIGKILL');
          await sending;
          host = await launch(database, name, broker);
        }
        await broker.send(orders.slice(3 * wave).map((order) => JSON.stringify({ order })));
        await untilCount(database, 3 * wave + 1);
        await broker.restart();
        await untilCount(database, MESSAGES);
        await eventually(async () => assert.equal(await broker.left(), 0));
        assert.deepEqual(ordersIn(database).sort(), orders);

        const unfit = name === 'pg-boss' ? '{"other":1}' : 'order=1';
        await broker.send([unfit, JSON.stringify({ order: 'order-last' })]);
        await untilCount(database, MESSAGES + 1);
        await eventually(async () => assert.equal(await broker.left(), 0));
        const letters = reading(database, "SELECT problem FROM trigger_messages WHERE outcome = 'dead-lettered'");
        assert.equal(letters.length, 1);
        await host.end('SIGTERM');
        assert.equal(ordersIn(database).length, MESSAGES + 1);
      } finally {
        await host?.end('SIGKILL');
        await broker.stop();
        rmSync(scratch, { recursive: true, force: true });
      }
    });
  });
}
