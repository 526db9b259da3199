import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';

/** Ticks of a second in /proc, the same on all of Linux. */
const TICKS = 100;

/**
 * Returns a function that says how many microseconds of processor time a PostgreSQL server on this machine has used. Linux alone
 * says it: elsewhere the function returns 0.
 */
export async function postgresCpu(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const first = statOf(rows[0].pid)?.parent;
  await client.end();
  return () => {
    if (first === undefined) return 0;
    const own = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(statOf)
      .filter((each) => each !== undefined && (each.pid === first || each.parent === first));
    // Of those that have ended, the first process has the time.
    const ticks = own.reduce((sum, { pid, used, ended }) => sum + used + (pid === first ? ended : 0), 0);
    return (ticks / TICKS) * 1_000_000;
  };
}

/** Returns the numbers of a process; undefined when it has ended. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return { pid: Number(pid), parent: fields[1], used: fields[11] + fields[12], ended: fields[13] + fields[14] };
  } catch {
    return undefined;
  }
}
