import PgBoss from 'pg-boss';
import { sleep } from '../../ports/clock.ts';
import type { ConsumeOptions, QueueConsumer } from '../../ports/queues.ts';

export type { ConsumeOptions, QueueConsumer, QueueMessage, QueueVerdict } from '../../ports/queues.ts';

/** Options of `pgBossQueues`. */
export interface PgBossQueuesOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** The schema of pg-boss. Default `pgboss`. */
  readonly schema?: string;
  /** The most connections. Default 4. */
  readonly connections?: number;
  /** The pause after a look that found fewer jobs than the prefetch, in ms. Default 500. */
  readonly pollMs?: number;
  /** The pause between two looks for jobs whose host was lost, in s. Default 30. */
  readonly maintenanceSeconds?: number;
  /** Called with errors that belong to no call, such as those of the maintenance. It must not throw. Default: they are ignored. */
  readonly onError?: (cause: unknown) => void;
}

/**
 * Consumes queues of pg-boss 10. The data of a job is the content of its message, and the id of the job identifies it. Hosts compete
 * for jobs. pg-boss delivers a job again when its host gives no verdict within `expireInSeconds`, and at most `retryLimit` times: give
 * the queue a large `retryLimit`, because a job that a host releases counts, too.
 *
 * @example
 * const consumer = pgBossQueues({ url: 'postgres://svc@db.example.com/shop' });
 * const grants = [{ tenant: 'acme', queues: ['orders'] }];
 * createHost({ ...options, triggers: { queues: { shop: { consumer, grants } } } });
 */
export function pgBossQueues(options: PgBossQueuesOptions): QueueConsumer {
  const {
    url,
    schema = 'pgboss',
    connections = 4,
    pollMs = 500,
    maintenanceSeconds = 30,
    onError = () => {},
  } = options;
  if (!(pollMs >= 10)) throw new TypeError('pollMs: must be at least 10. Leave it out for 500.');
  let starting: Promise<PgBoss> | undefined;

  return {
    async consume(consuming) {
      const { prefetch, signal, clock } = consuming;
      const boss = await started();
      while (!signal.aborted) {
        const found = await delivered(boss, consuming);
        if (found < prefetch) await sleep(clock, pollMs, signal).catch(() => {});
      }
    },
    async close() {
      const boss = await starting?.catch(() => undefined);
      starting = undefined;
      await boss?.stop({ graceful: false, wait: true });
    },
  };

  /** Starts pg-boss once. A start that failed is repeated by the next call. */
  function started(): Promise<PgBoss> {
    starting ??= start().catch((error: unknown) => {
      starting = undefined;
      throw error;
    });
    return starting;
  }

  async function start(): Promise<PgBoss> {
    const boss = new PgBoss({
      connectionString: url,
      schema,
      max: connections,
      schedule: false,
      maintenanceIntervalSeconds: maintenanceSeconds,
    });
    // Without a listener, an error of the maintenance would end the process.
    boss.on('error', onError);
    return boss.start();
  }
}

/** Delivers the jobs that are due, up to the prefetch, and returns their number. */
async function delivered(boss: PgBoss, { queue, prefetch, receive }: ConsumeOptions): Promise<number> {
  const jobs = await boss.fetch<unknown>(queue, { batchSize: prefetch });
  await Promise.all(
    jobs.map(async ({ id, data }) => {
      const body = Buffer.from(JSON.stringify(data ?? null));
      const verdict = await receive({ id, body });
      if (verdict === 'acknowledge') await boss.complete(queue, id);
      else await boss.fail(queue, id);
    }),
  );
  return jobs.length;
}
