import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { egressPolicy } from '@svc/egress-guard';
import { guardedPost } from '@svc/egress-guard/post';
import { Agent } from 'undici';
import { summary } from '../alternate.mjs';
import { versionsOf } from '../peer-versions.mjs';
import { printTable, rate } from '../table.mjs';

const ROUNDS = 7;
const ROUND_MS = 1500;
const WARM_UP_MS = 1500;
const AT_ONCE = 8;
const PUBLIC = '8.8.8.8';

/**
 * Measures POSTs of 0.4 KB over TLS to one warm receiver in another process, eight at a time: their number per second, and
 * the processor time of the sender for each, all threads counted. The limit is undici's own pool, which neither resolves nor classifies addresses. Ours resolves, classifies and pins for every
 * attempt; the name resolves, from memory, to a public address that the benchmark's network maps to loopback.
 */
export default async function post() {
  const receiver = fork(new URL('./receiver.mjs', import.meta.url), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [line] = await once(receiver.stdout, 'data');
  const port = Number(String(line));
  const ca = readFileSync(new URL('../../packages/egress-guard/test/fixtures/ca.pem', import.meta.url), 'utf8');
  const body = Buffer.alloc(400, 'x');
  const headers = { 'content-type': 'application/json' };
  const url = `https://hooks.example:${port}/hook`;

  const lookup = (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
  const pool = new Agent({ connect: { ca, lookup }, connections: AT_ONCE, allowH2: false, pipelining: 1 });
  const network = {
    connect: (_address, to) => connect({ host: '127.0.0.1', port: to, noDelay: true }),
    peerOf: () => PUBLIC,
  };
  const options = { policy: egressPolicy({ ca: [ca] }), resolver: { resolve: async () => [PUBLIC] }, network };
  const kept = guardedPost(options);
  const fresh = guardedPost({ ...options, maxIdleMs: 0 });

  const candidates = {
    'undici pool': async () => {
      const answer = await pool.request({
        origin: `https://hooks.example:${port}`,
        path: '/hook',
        method: 'POST',
        headers,
        body,
      });
      await answer.body.dump();
      return answer.statusCode;
    },
    'ours, kept connections': async () => (await kept({ url, headers, body, timeoutMs: 5000 })).status,
    'ours, a connection each': async () => (await fresh({ url, headers, body, timeoutMs: 5000 })).status,
  };
  const rounds = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  try {
    for (const work of Object.values(candidates)) await measure(work, WARM_UP_MS);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, work] of Object.entries(candidates)) rounds[name].push(await measure(work, ROUND_MS));
    }
  } finally {
    await pool.destroy();
    kept.close();
    fresh.close();
    receiver.kill();
  }
  const found = Object.fromEntries(
    Object.entries(rounds).map(([name, all]) => [
      name,
      { ...summary(all.map(({ perSecond }) => perSecond)), cpuMicros: median(all.map(({ cpuMicros }) => cpuMicros)) },
    ]),
  );
  printTable(
    ['POSTs over TLS', 'per second', 'of the pool', 'spread', 'CPU µs'],
    Object.entries(found).map(([name, { perSecond, spread, cpuMicros }]) => [
      name,
      rate(perSecond),
      (perSecond / found['undici pool'].perSecond).toFixed(2),
      `±${(spread * 50).toFixed(0)}%`,
      cpuMicros.toFixed(0),
    ]),
  );
  return { versions: versionsOf(['undici']), limit: 'undici pool', found };
}

async function measure(work, ms) {
  const started = performance.now();
  const before = process.cpuUsage();
  let done = 0;
  const lane = async () => {
    while (performance.now() - started < ms) {
      const status = await work();
      if (status !== 204) throw new Error(`The receiver returned status ${status}.`);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const { user, system } = process.cpuUsage(before);
  return { perSecond: (done / (performance.now() - started)) * 1000, cpuMicros: (user + system) / done };
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
