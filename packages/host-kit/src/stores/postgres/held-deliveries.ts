import type { AuditFact } from '@svc/auth/audit';
import type pg from 'pg';
import { outagePaused, outageResumed } from '../../ports/outage.ts';
import { auditStore } from './audit.ts';
import { type InspectPostgresOptions, inspectPostgres } from './inspect.ts';
import { commandClient, type WithinClient, withinClient } from './one-client.ts';
import { schemaName } from './schema-name.ts';
import { subscriptionStore } from './subscriptions.ts';

/**
 * Pauses every active subscription in the transaction of a client, and lists them in `held_subscriptions`.
 *
 * @returns their number
 *
 * @internal
 */
export async function holdDeliveries(client: pg.ClientBase): Promise<number> {
  await client.query(
    `INSERT INTO held_subscriptions SELECT webhook_id, floor(extract(epoch FROM clock_timestamp()) * 1000)
      FROM subscriptions WHERE status = 'active' ON CONFLICT DO NOTHING`,
  );
  const database = withinClient(client);
  const held = await move(client, database, 'active', 'paused');
  await database.end();
  return held;
}

/**
 * Resumes the subscriptions that `restorePostgres` has paused and that are still paused. Hosts may run.
 *
 * @returns their number; undefined when nothing is held
 * @throws {TypeError} when `schema` is not a valid name
 * @throws {Error} when the database cannot be reached, or has no tables of a host
 * @example
 * const released = await releaseDeliveries({ url: process.env.DATABASE_URL });
 */
export async function releaseDeliveries(options: InspectPostgresOptions): Promise<number | undefined> {
  if ((await heldDeliveries(options)) === 0) return undefined;
  const client = await commandClient(options.url);
  try {
    await client.query(`BEGIN; SET LOCAL search_path TO ${schemaName('releaseDeliveries', options.schema ?? 'svc')}`);
    const database = withinClient(client);
    const released = await move(client, database, 'paused', 'active');
    await database.end('DELETE FROM held_subscriptions', 'COMMIT');
    return released;
  } finally {
    await client.end();
  }
}

/**
 * Counts the subscriptions that `restorePostgres` has paused and that are not released.
 *
 * @throws {TypeError} when `schema` is not a valid name
 * @throws {Error} when the database cannot be reached, or has no tables of a host
 * @example
 * const held = await heldDeliveries({ url: process.env.DATABASE_URL });
 */
export async function heldDeliveries(options: InspectPostgresOptions): Promise<number> {
  const inspection = await inspectPostgres(options);
  try {
    return await inspection.held();
  } finally {
    await inspection.close();
  }
}

type Movable = 'active' | 'paused';

/**
 * Changes the status of the listed subscriptions that have the status `from`, with an entry of the audit log each, which the end of
 * `database` appends.
 */
async function move(client: pg.ClientBase, database: WithinClient, from: Movable, to: Movable): Promise<number> {
  const subscriptions = subscriptionStore(database, async () => {});
  const audit = auditStore(database);
  let moved = 0;
  for (let after = ''; ; ) {
    const { rows } = await client.query<{ webhook_id: string }>(
      'SELECT webhook_id FROM held_subscriptions WHERE webhook_id > $1 ORDER BY webhook_id LIMIT $2',
      [after, STEP],
    );
    const facts: AuditFact[] = [];
    const occurred = await now(client);
    const occurredAt = new Date(occurred).toISOString();
    await database.transaction(async (transaction) => {
      for (const { webhook_id: webhookId } of rows) {
        await subscriptions.updateState(
          webhookId,
          ({ tenant, status, circuit, failures, outage }) => {
            if (status !== from) return { status, circuit, failures, outage };
            const action = to === 'paused' ? 'webhook.pause' : 'webhook.resume';
            const target = `${tenant}/${webhookId}`;
            facts.push({ action, actor: null, target, occurredAt, details: { cause: 'restore', tenant } });
            const moved = to === 'paused' ? outagePaused(outage, occurred) : outageResumed(outage, occurred);
            return { status: to, circuit, failures, outage: moved };
          },
          transaction,
        );
      }
      if (facts.length > 0) await audit.append(facts, transaction);
    });
    moved += facts.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < STEP) return moved;
    after = last.webhook_id;
  }
}

async function now(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return rows[0]?.now.getTime() ?? 0;
}

/** Subscriptions of one page. */
const STEP = 500;
