/**
 * A host that consumes a queue. Arguments: the database of its store; the URL of the broker; `verdict` to hang when a message has its
 * verdict, before the broker learns it, or `none`. Prints a line when it hangs, or the number of runs when the queue is empty.
 */
import pg from 'pg';
import type { QueueConsumer } from '../../src/ports/queues.ts';
import { postgresQueues } from '../../src/queues/postgres/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { triggerHost } from './trigger-host.ts';

const [, , path = '', url = '', hangs = 'none'] = process.argv;
const broker = postgresQueues({ url });
const consumer: QueueConsumer = {
  ...broker,
  consume: (options) =>
    broker.consume({
      ...options,
      async receive(message) {
        const verdict = await options.receive(message);
        if (hangs === 'none') return verdict;
        process.stdout.write('hangs\n');
        return new Promise(() => setInterval(() => {}, 1000));
      },
    }),
};
const store = sqliteStore(path);
const isFirst = (await store.triggers.page({ after: '', limit: 1 })).length === 0;
const queues = { shop: { consumer, grants: [{ tenant: 'acme', queues: ['orders'] }] } };
const world = await triggerHost({ store, triggers: { queues } });
if (isFirst) {
  const mapping = { workflowId: 'echo', inputs: { order: { pointer: '/body/order' } } };
  const queue = { connection: 'shop', name: 'orders' };
  await world.register({ source: 'queue', queue, mapping, webhook: undefined, secret: undefined });
}
const database = new pg.Pool({ connectionString: url });
for (let left = 1; left > 0; ) {
  world.clock.advance(500);
  await new Promise((resolve) => setTimeout(resolve, 10));
  left = (await database.query('SELECT count(*)::int AS count FROM svc_queue')).rows[0].count;
}
process.stdout.write(`${(await world.runs()).length}\n`);
await world.host.stop(0);
await database.end();
