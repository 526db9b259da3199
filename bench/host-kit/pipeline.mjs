import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import { summary } from '../alternate.mjs';
import { versionsOf } from '../peer-versions.mjs';
import { printTable, rate } from '../table.mjs';
import { KEY, RUN } from './fixtures.mjs';

const ROUNDS = 7;
const ROUND_MS = 2000;
const AT_ONCE = 32;
const SERVERS = { 'Hono, bare': 'bare', 'ours, all steps': 'ours', 'ours, with the audit log': 'audited' };

/**
 * Measures requests per second over HTTP, 32 at a time, to a server in another process that reads one run from memory.
 * The limit is the same route in bare Hono, without any check. Ours negotiates the version, authenticates, limits,
 * checks the scope, looks the run up within the caller's tenancy, projects it, stamps and logs. The goal is 0.60 of the
 * limit.
 */
export default async function pipeline() {
  const running = await Promise.all(Object.entries(SERVERS).map(([name, kind]) => start(name, kind)));
  const rates = Object.fromEntries(running.map(({ name }) => [name, []]));
  try {
    for (const { pool } of running) await perSecond(pool, 1000);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { name, pool } of running) rates[name].push(await perSecond(pool, ROUND_MS));
    }
  } finally {
    for (const { pool, process } of running) {
      await pool.destroy();
      process.kill();
    }
  }
  const found = Object.fromEntries(Object.entries(rates).map(([name, values]) => [name, summary(values)]));
  const limit = found['Hono, bare'].perSecond;
  printTable(
    ['requests over HTTP', 'per second', 'of bare Hono', 'spread'],
    Object.entries(found).map(([name, { perSecond: each, spread }]) => [
      name,
      rate(each),
      (each / limit).toFixed(2),
      `${Math.round(spread * 100)} %`,
    ]),
  );
  return { goal: 0.6, limit: 'Hono, bare', versions: versionsOf(['hono', '@hono/node-server', 'undici']), found };
}

async function start(name, kind) {
  const process = fork(new URL('./server.mjs', import.meta.url), [kind], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [line] = await once(process.stdout, 'data');
  const pool = new Pool(`http://127.0.0.1:${String(line).trim()}`, { connections: AT_ONCE, pipelining: 1 });
  return { name, process, pool };
}

async function perSecond(pool, forMs) {
  const started = performance.now();
  let done = 0;
  const client = async () => {
    while (performance.now() - started < forMs) {
      const { statusCode, body } = await pool.request({
        method: 'GET',
        path: `/v1/runs/${RUN.runId}`,
        headers: { authorization: `Bearer ${KEY}` },
      });
      await body.dump();
      if (statusCode !== 200) throw new Error(`The server returned status ${statusCode}.`);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return (done / (performance.now() - started)) * 1000;
}
