// A process that presents proofs to the replay store of its arguments, and prints its answers. With the last argument
// `die`, it is killed by SIGKILL after them.
import { createHash } from 'node:crypto';
import pg from 'pg';
import { postgresReplayStore } from '../src/dpop/postgres.ts';
import { sqliteReplayStore } from '../src/dpop/sqlite.ts';

const [place, ending] = process.argv.slice(2);
const pool = place.startsWith('postgres') ? new pg.Pool({ connectionString: place, max: 2 }) : undefined;
const store =
  pool === undefined
    ? sqliteReplayStore(place)
    : postgresReplayStore(pool, { table: 'dpop_shared', timeoutMs: 60_000 });
await store.migrate?.();
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
const expiresAt = Date.now() + 600_000;
const idOf = (name) => createHash('sha256').update(`shared ${name}`).digest('hex');
const answers = await Promise.all(Array.from({ length: 1000 }, (_, turn) => store.claim(idOf(turn % 20), expiresAt)));
process.stdout.write(`${JSON.stringify(answers)}\n`, () => {
  if (ending === 'die') process.kill(process.pid, 'SIGKILL');
  else void pool?.end().then(() => process.exit());
  if (pool === undefined) process.exit();
});
