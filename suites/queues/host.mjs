/**
 * A host whose runs complete at once, and that consumes one queue. Arguments: the database of its store; the broker; the options of its
 * consumer, as JSON; the name of the queue. Prints `ready` when the trigger is registered.
 */
import { argv } from 'node:process';
import { createHost } from '@svc/host-kit';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';

const [, , database, broker, options, name] = argv;
const FACTORIES = { nats: 'natsQueues', amqp: 'amqpQueues', 'pg-boss': 'pgBossQueues', postgres: 'postgresQueues' };
const { [FACTORIES[broker]]: factory } = await import(`@svc/host-kit/queues/${broker}`);
const principal = {
  ...{ id: 'p_1', kind: 'user', credentialId: 'c_1', lane: 'test', binding: 'bearer', scopes: ['*:*'] },
  tenancy: { tenant: 'acme', workspaces: 'all', mode: 'live' },
  subject: { issuer: 'urn:test', subjectId: 'p_1', tenant: 'acme', lane: 'test', kind: 'user' },
};
const store = sqliteStore(database);
const isFirst = (await store.triggers.page({ after: '', limit: 1 })).length === 0;
const host = createHost({
  store,
  authenticate: [
    {
      name: 'test',
      advertises: [{ kind: 'api-key', issuer: 'urn:test' }],
      authenticate: async () => ({ kind: 'authenticated', principal }),
    },
  ],
  engine: async () => ({}),
  secretKey: new Uint8Array(32),
  baseUrl: 'https://svc.example.com',
  features: {
    triggers: {
      maxBodyBytes: 10_000,
      queues: { broker: { consumer: factory(JSON.parse(options)), grants: [{ tenant: 'acme', queues: [name] }] } },
    },
  },
  ports: { log: (record) => process.stderr.write(`${JSON.stringify(record)}\n`) },
});
await host.start();
if (isFirst) {
  const body = JSON.stringify({
    source: 'queue',
    queue: { connection: 'broker', name },
    mapping: { workflowId: 'ship', inputs: { order: { pointer: '/body/order' } } },
  });
  const headers = { 'svc-version': '2', 'content-type': 'application/json', authorization: 'Bearer x' };
  const url = 'https://svc.example.com/trigger-subscriptions';
  const answer = await host.fetch(new Request(url, { method: 'POST', headers, body }));
  if (answer.status !== 201) throw new Error(`The registration was refused: ${await answer.text()}`);
}
process.stdout.write('ready\n');
// The timers of a host do not keep its process alive, and no server listens here.
const alive = setInterval(() => {}, 60_000);
process.on('SIGTERM', () => host.stop(1000).finally(() => clearInterval(alive)));
