import pg from 'pg';
import { startPostgres } from '../../tools/postgres.ts';
import { summary } from '../alternate.mjs';
import { printTable, rate } from '../table.mjs';
import { seed, startHost } from './delivering-host.mjs';
import { startReceivers } from './receivers.mjs';
import { runOf } from './records.mjs';
import { openStore } from './stores.mjs';

const SUBSCRIPTIONS = 100;
const ROUNDS = 5;
const DELIVERIES = 4000;
/** Deliveries under the snapshot before the rounds that count. */
const WEAR = 300_000;
const GOAL = 0.9;

/**
 * Measures deliveries a second on PostgreSQL while another client holds a snapshot, so that no deleted row is cleaned up, after
 * 300 000 deliveries, relative to the rate before the snapshot. Each round has runs of its own, which then end.
 */
export default async function snapshot() {
  const receivers = await startReceivers();
  const server = await startPostgres({ flushes: true });
  const place = { kind: 'postgres', url: server.url, schema: 'svc_snapshot' };
  const store = await openStore(place);
  const holder = new pg.Client({ connectionString: server.url });
  const other = new pg.Client({ connectionString: server.url });
  for (const client of [holder, other]) await client.connect();
  await seed(store, { subscriptions: SUBSCRIPTIONS, port: receivers.port });
  const host = await startHost(store);
  let generation = 0;
  const round = async () => {
    const rate = await host.perSecond(await newRuns(store, generation++), { events: DELIVERIES, listeners: 1 });
    // Otherwise the host would renew its lease on all of them.
    await other.query(`UPDATE ${place.schema}.runs SET status = 'completed', held_until = 0 WHERE status = 'running'`);
    return rate;
  };
  try {
    await round();
    const undisturbed = await several(ROUNDS, round);
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query('SELECT count(*) FROM pg_class');
    const wearing = await several(Math.ceil(WEAR / DELIVERIES), round);
    console.log(`under the snapshot: ${wearing.map(rate).join(', ')} a second`);
    const held = await several(ROUNDS, round);
    const dead = await deadRows(server.url, place.schema);
    await holder.query('ROLLBACK');
    const [before, after] = [summary(undisturbed), summary(held)];
    const ratio = after.perSecond / before.perSecond;
    printTable(
      ['deliveries a second, PostgreSQL', 'undisturbed', 'snapshot held', 'ratio', 'goal', 'spread'],
      [
        [
          `after ${WEAR}`,
          rate(before.perSecond),
          rate(after.perSecond),
          ratio.toFixed(2),
          GOAL,
          `${Math.round(after.spread * 100)} %`,
        ],
      ],
    );
    printTable(['table', 'dead rows'], Object.entries(dead));
    return { goal: GOAL, wear: WEAR, undisturbed: before, held: after, ratio, dead };
  } finally {
    for (const client of [holder, other]) await client.end();
    await host.stop();
    receivers.stop();
    await server.stop();
  }
}

/** Inserts a run of each subscription. */
async function newRuns(store, generation) {
  const runIds = Array.from({ length: SUBSCRIPTIONS }, (_, index) => `run_${generation}_${index}`);
  await store.transaction(async (transaction) => {
    for (const [index, runId] of runIds.entries()) {
      await store.runs.insert(runOf(runId, `w${index}`, 'acme'), transaction);
    }
  });
  return runIds;
}

async function several(count, work) {
  const results = [];
  for (let index = 0; index < count; index += 1) results.push(await work());
  return results;
}

/** Returns the tables with the most deleted rows that were not cleaned up. */
async function deadRows(url, schema) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `SELECT relname, n_dead_tup::int AS dead FROM pg_stat_user_tables
      WHERE schemaname = $1 AND n_dead_tup > 0 ORDER BY n_dead_tup DESC LIMIT 6`,
    [schema],
  );
  await client.end();
  return Object.fromEntries(rows.map(({ relname, dead }) => [relname, dead]));
}
