import type { Log } from '@svc/host-kit';
import type { QueueConnection, QueueConsumer } from '@svc/host-kit/ports';
import type { Config } from './config.ts';

type Queues = NonNullable<Config['triggers']>['queues'];

/** Opens the connections to brokers. Each loads its client alone, and connects when a trigger needs it. */
export async function configuredQueues(queues: Queues, log: Log): Promise<Readonly<Record<string, QueueConnection>>> {
  const opened: [string, QueueConnection][] = [];
  for (const [name, connection] of Object.entries(queues)) {
    const { grants, prefetch } = connection;
    opened.push([name, { consumer: await consumerOf(name, connection, log), grants, prefetch }]);
  }
  return Object.fromEntries(opened);
}

async function consumerOf(name: string, connection: Queues[string], log: Log): Promise<QueueConsumer> {
  const onError = (cause: unknown) => {
    const error = cause instanceof Error ? cause.message : typeof cause;
    log({ level: 'warn', event: 'queues.connection-failed', connection: name, error });
  };
  switch (connection.broker) {
    case 'postgres': {
      const { postgresQueues } = await import('@svc/host-kit/queues/postgres');
      const { url, table, connections } = connection;
      return postgresQueues({ url, table, connections, onError });
    }
    case 'nats': {
      const { natsQueues } = await import('@svc/host-kit/queues/nats');
      const { servers, user, pass, token } = connection;
      const credentials = { ...(user && { user }), ...(pass && { pass }), ...(token && { token }) };
      return natsQueues({ connection: { servers, ...credentials } });
    }
    case 'amqp': {
      const { amqpQueues } = await import('@svc/host-kit/queues/amqp');
      return amqpQueues({ connection: connection.url });
    }
    case 'pg-boss': {
      const { pgBossQueues } = await import('@svc/host-kit/queues/pg-boss');
      const { url, schema, connections } = connection;
      return pgBossQueues({ url, schema, connections, onError });
    }
  }
}
