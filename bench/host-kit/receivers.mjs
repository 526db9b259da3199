import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { egressPolicy } from '@svc/egress-guard';
import { guardedPost } from '@svc/egress-guard/post';
import { Agent } from 'undici';

const PUBLIC = '8.8.8.8';
const ca = readFileSync(new URL('../../packages/egress-guard/test/fixtures/ca.pem', import.meta.url), 'utf8');

/** Starts the receivers in another process. */
export async function startReceivers() {
  const process = fork(new URL('./receiver.mjs', import.meta.url), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [line] = await once(process.stdout, 'data');
  const ask = async (message) => {
    process.send(message);
    const [answer] = await once(process, 'message');
    return answer;
  };
  return {
    port: Number(String(line)),
    /** Resets the counts, and starts to time the requests. */
    start: () => ask('start'),
    times: async () => (await ask('times')).times,
    counts: () => ask('counts'),
    stop: () => process.kill(),
  };
}

/**
 * Creates the guarded POST of a host, which resolves, classifies and pins each time. Its network maps the public
 * address to loopback.
 */
export function guardedTransport() {
  return guardedPost({
    policy: egressPolicy({ ca: [ca] }),
    resolver: { resolve: async () => [PUBLIC] },
    network: {
      connect: (_address, to) => connect({ host: '127.0.0.1', port: to, noDelay: true }),
      peerOf: () => PUBLIC,
    },
  });
}

/**
 * Creates a pooled undici POST loop, `atOnce` at a time: the limit of the machine without storing, signing and
 * classifying.
 */
export function rawLoop(port, atOnce) {
  const lookup = (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
  const pool = new Agent({ connect: { ca, lookup }, connections: atOnce, allowH2: false, pipelining: 1 });
  const body = Buffer.alloc(400, 'x');
  const post = async () => {
    const answer = await pool.request({
      origin: `https://hooks.example:${port}`,
      path: '/raw',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await answer.body.dump();
  };
  return {
    async run(posts) {
      const started = performance.now();
      await repeat(posts, atOnce, post);
      return (posts / (performance.now() - started)) * 1000;
    },
    close: () => pool.destroy(),
  };
}

/** Does `work` `times` times, `atOnce` at a time. */
export async function repeat(times, atOnce, work) {
  let left = times;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
