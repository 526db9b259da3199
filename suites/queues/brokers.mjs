import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { freePort } from '../../tools/free-port.ts';
import { startPostgres } from '../../tools/postgres.ts';

/**
 * The brokers, each with its real server on the loopback interface.
 *
 * @typedef {object} Broker
 * @property {string} queue the name of a queue, as a trigger has it
 * @property {object} options of the consumer
 * @property {(messages: readonly string[]) => Promise<void>} send
 * @property {() => Promise<number>} left the number of messages that are not acknowledged
 * @property {() => Promise<void>} restart kills the server, and starts it again on its data
 * @property {() => Promise<void>} stop
 */

export async function natsBroker() {
  const { connect } = await import('@nats-io/transport-node');
  const { AckPolicy, jetstream, jetstreamManager } = await import('@nats-io/jetstream');
  const folder = mkdtempSync(join(tmpdir(), 'svc-nats-'));
  const port = await freePort();
  const server = await serverOf('nats-server', ['-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port)], port);
  const servers = `127.0.0.1:${port}`;
  const withClient = async (work) => {
    const connection = await connect({ servers });
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  };
  await withClient(async (connection) => {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: 'SHOP', subjects: ['shop.*'] });
    const limits = { ack_wait: 5_000_000_000, max_ack_pending: 100 };
    await manager.consumers.add('SHOP', { durable_name: 'orders', ack_policy: AckPolicy.Explicit, ...limits });
  });
  return {
    queue: 'SHOP/orders',
    options: { connection: { servers } },
    send: (messages) =>
      withClient(async (connection) => {
        const client = jetstream(connection);
        for (const message of messages) await client.publish('shop.orders', message);
      }),
    left: () =>
      withClient(async (connection) => {
        const info = await (await jetstreamManager(connection)).consumers.info('SHOP', 'orders');
        return info.num_pending + info.num_ack_pending;
      }),
    restart: server.restart,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function amqpBroker() {
  const { connect } = await import('amqplib');
  const folder = mkdtempSync(join(tmpdir(), 'svc-rabbitmq-'));
  const [port, distribution, names] = [await freePort(), await freePort(), await freePort()];
  for (const name of ['data', 'log', 'home']) mkdirSync(join(folder, name));
  const surroundings = {
    ...env,
    HOME: join(folder, 'home'),
    ERL_EPMD_PORT: String(names),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: 'svc@localhost',
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
  };
  // The Erlang VM would start one that outlives it.
  const epmd = await serverOf('epmd', ['-port', String(names)], names, surroundings);
  const server = await serverOf('/usr/lib/rabbitmq/bin/rabbitmq-server', [], port, surroundings);
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  const withChannel = async (work) => {
    const model = await eventually(() => connect(url));
    try {
      const channel = await model.createConfirmChannel();
      await channel.assertQueue('orders', { durable: true });
      return await work(channel);
    } finally {
      await model.close();
    }
  };
  await withChannel(async () => {});
  return {
    queue: 'orders',
    options: { connection: url },
    send: (messages) =>
      withChannel(async (channel) => {
        for (const [index, message] of messages.entries())
          channel.sendToQueue('orders', Buffer.from(message), { persistent: true, messageId: `${index}:${message}` });
        await channel.waitForConfirms();
      }),
    // Messages that a consumer holds are not counted here.
    left: () => withChannel(async (channel) => (await channel.checkQueue('orders')).messageCount),
    restart: server.restart,
    async stop() {
      await server.stop();
      await epmd.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function pgBossBroker() {
  const { default: PgBoss } = await import('pg-boss');
  const { default: pg } = await import('pg');
  const postgres = await startPostgres();
  const boss = new PgBoss({ connectionString: postgres.url, schedule: false });
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue('orders', { name: 'orders', retryLimit: 1000, expireInSeconds: 2 });
  const pool = new pg.Pool({ connectionString: postgres.url });
  pool.on('error', () => {});
  return {
    queue: 'orders',
    options: { url: postgres.url, maintenanceSeconds: 1 },
    send: async (messages) => {
      await boss.insert(
        messages.map((message) => ({
          name: 'orders',
          data: JSON.parse(message),
          retryLimit: 1000,
          expireInSeconds: 2,
        })),
      );
    },
    left: async () => {
      const { rows } = await pool.query("SELECT count(*)::int AS n FROM pgboss.job WHERE state <> 'completed'");
      return rows[0].n;
    },
    restart: () => postgres.crash('SIGQUIT'),
    async stop() {
      await boss.stop({ graceful: false });
      await pool.end();
      await postgres.stop();
    },
  };
}

export async function postgresBroker(load) {
  const { postgresQueueTable } = await load('@svc/host-kit/queues/postgres');
  const { default: pg } = await import('pg');
  const postgres = await startPostgres();
  const pool = new pg.Pool({ connectionString: postgres.url });
  pool.on('error', () => {});
  await pool.query(postgresQueueTable());
  return {
    queue: 'orders',
    options: { url: postgres.url },
    send: async (messages) => {
      await pool.query("INSERT INTO svc_queue (queue, body) SELECT 'orders', unnest($1::text[])", [messages]);
    },
    left: async () => (await pool.query('SELECT count(*)::int AS n FROM svc_queue')).rows[0].n,
    restart: () => postgres.crash('SIGQUIT'),
    async stop() {
      await pool.end();
      await postgres.stop();
    },
  };
}

/** Repeats an attempt until it succeeds, for up to two minutes. */
export async function eventually(attempt) {
  const end = performance.now() + 120_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Starts a server in a group of its own, and waits until it listens. */
async function serverOf(command, args, port, surroundings = env) {
  let child;
  const start = async () => {
    child = spawn(command, args, { stdio: 'ignore', detached: true, env: surroundings });
    await once(child, 'spawn');
    await eventually(() => listening(port));
  };
  const end = async () => {
    const exited = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  await start();
  return {
    async restart() {
      await end();
      await start();
    },
    stop: end,
  };
}

async function listening(port) {
  const socket = connectSocket(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}
