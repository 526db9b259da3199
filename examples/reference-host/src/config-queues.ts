import { z } from 'zod';
import { mode, tenantId } from './config-values.ts';

const grants = z
  .array(
    z.strictObject({
      tenant: tenantId.describe('Id of a tenant.'),
      mode: mode.default('live').describe('Mode of the triggers of the tenant that may consume the queues.'),
      queues: z.array(z.string().min(1).max(255)).min(1).max(1000).describe('Names of queues at the broker.'),
    }),
  )
  .max(1000)
  .describe('Queues that tenants may consume. A queue that is not listed is refused.');

const prefetch = z
  .int()
  .min(1)
  .max(1000)
  .default(10)
  .describe('Most messages of one queue that this host works on at once.');

const postgres = z.strictObject({
  broker: z.literal('postgres').describe('A table of PostgreSQL.'),
  url: z
    .string()
    .regex(/^postgres(?:ql)?:\/\/.+$/, 'must be the location of a database. Write postgres://USER@HOST/DATABASE.')
    .describe('Location of the database: postgres://….'),
  table: z
    .string()
    .regex(
      /^(?:[a-z_][a-z0-9_]{0,49}\.)?[a-z_][a-z0-9_]{0,49}$/,
      'must be the name of a table. Use lower-case letters, digits and underscores.',
    )
    .default('svc_queue')
    .describe('Table of the queues, with or without a schema.'),
  connections: z
    .int()
    .min(1)
    .max(100)
    .default(4)
    .describe('Most connections of this host. Each works on the messages of one queue at a time.'),
  prefetch,
  grants,
});

const nats = z.strictObject({
  broker: z.literal('nats').describe('NATS JetStream.'),
  servers: z.array(z.string().min(1)).min(1).max(32).describe('Locations of the servers: host:port or nats://….'),
  user: z.string().optional().describe('Name of the account. Default: none.'),
  pass: z.string().optional().describe('Password of the account. Default: none.'),
  token: z.string().optional().describe('Token, in place of a name and a password. Default: none.'),
  prefetch,
  grants,
});

const amqp = z.strictObject({
  broker: z.literal('amqp').describe('A broker of AMQP 0-9-1, such as RabbitMQ.'),
  url: z
    .string()
    .regex(/^amqps?:\/\/.+$/, 'must be the location of a broker. Write amqps://USER:PASSWORD@HOST/VHOST.')
    .describe('Location of the broker: amqps://….'),
  prefetch,
  grants,
});

const pgBoss = z.strictObject({
  broker: z.literal('pg-boss').describe('pg-boss in PostgreSQL.'),
  url: postgres.shape.url,
  schema: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,49}$/, 'must be the name of a schema. Use lower-case letters, digits and underscores.')
    .default('pgboss')
    .describe('Schema of pg-boss.'),
  connections: postgres.shape.connections,
  prefetch,
  grants,
});

/** The connections to brokers whose queues start runs, by the names that triggers use. */
export const queues = z
  .record(
    z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, 'must be a name of lower-case letters, digits and hyphens.'),
    z.discriminatedUnion('broker', [postgres, nats, amqp, pgBoss]),
  )
  .default({})
  .superRefine((connections, context) => {
    for (const [name, connection] of Object.entries(connections)) {
      const seen = new Set<string>();
      for (const [index, { queues: granted }] of connection.grants.entries()) {
        for (const [place, queue] of granted.entries()) {
          if (seen.has(queue))
            context.addIssue({
              code: 'custom',
              path: [name, 'grants', index, 'queues', place],
              message: 'is granted twice. Grant a queue to one tenant and mode.',
            });
          seen.add(queue);
        }
      }
    }
  })
  .describe('Connections to brokers, by the names that triggers use. Default: none, and no queue starts runs.');
