import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { egressPolicy } from '@svc/egress-guard';
import { guardedPost } from '@svc/egress-guard/post';
import { createHost, systemRandom } from '@svc/host-kit';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { Agent } from 'undici';
import { startPostgres } from '../../tools/postgres.ts';
import { summary } from '../alternate.mjs';
import { versionsOf } from '../peer-versions.mjs';
import { printTable, rate } from '../table.mjs';

const SUBSCRIPTIONS = 100;
const AT_ONCE = 64;
const ROUNDS = 5;
const EVENTS = 4000;
const PUBLIC = '8.8.8.8';
const PAYLOAD = { nodeId: 'n', filler: 'x'.repeat(160) };

/**
 * Events a second from `append` to the receiver's answer: 100 subscriptions, each of which hears of its own runs, 0.4 KB bodies, TLS, receivers
 * in another process; and how long an event takes at 200 a second. The limit is a pooled undici POST loop to the same receivers.
 */
export default async function deliver() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const receivers = await startReceivers();
  const postgres = await startPostgres();
  const stores = {
    'SQLite, durable': () => sqliteStore(join(folder, 'svc.db')),
    'PostgreSQL, durable': () => postgresStore({ url: postgres.url, connections: 40 }),
  };
  const hosts = {};
  try {
    for (const [name, open] of Object.entries(stores)) hosts[name] = await startHost(await open(), receivers.port);
    const raw = rawLoop(receivers.port);
    const rates = { 'undici POST loop': [], ...Object.fromEntries(Object.keys(hosts).map((name) => [name, []])) };
    for (let round = 0; round <= ROUNDS; round += 1) {
      const measured = { 'undici POST loop': await raw.run() };
      for (const [name, host] of Object.entries(hosts)) measured[name] = await host.run();
      console.log(`round ${round} of ${ROUNDS}: ${Object.values(measured).map(rate).join(', ')}`);
      // The first is not compiled yet.
      if (round > 0) for (const [name, each] of Object.entries(measured)) rates[name].push(each);
    }
    await raw.close();
    const found = Object.fromEntries(Object.entries(rates).map(([name, values]) => [name, summary(values)]));
    const limit = found['undici POST loop'].perSecond;
    printTable(
      ['deliveries', 'per second', 'of the loop', 'spread'],
      Object.entries(found).map(([name, { perSecond, spread }]) => [
        name,
        rate(perSecond),
        (perSecond / limit).toFixed(2),
        `${Math.round(spread * 100)} %`,
      ]),
    );
    const latencies = {};
    for (const [name, host] of Object.entries(hosts)) latencies[name] = await host.latency(receivers.process, 200, 10);
    printTable(
      ['at 200 events a second', 'median', '99 %'],
      Object.entries(latencies).map(([name, { median, p99 }]) => [
        name,
        `${median.toFixed(1)} ms`,
        `${p99.toFixed(1)} ms`,
      ]),
    );
    const goals = { sqlite: 0.5, postgres: 0.2, medianMs: 10, p99Ms: 50 };
    return { goals, versions: versionsOf(['undici']), found, latencies };
  } finally {
    for (const host of Object.values(hosts)) await host.stop();
    receivers.process.kill();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startReceivers() {
  const process = fork(new URL('./receiver.mjs', import.meta.url), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [line] = await once(process.stdout, 'data');
  return { process, port: Number(String(line)) };
}

const ca = readFileSync(new URL('../../packages/egress-guard/test/fixtures/ca.pem', import.meta.url), 'utf8');

/** A host with its subscriptions and a run for each, on the real guard; only the network of the benchmark has the public on loopback. */
async function startHost(store, port) {
  const network = {
    connect: (_address, to) => connect({ host: '127.0.0.1', port: to, noDelay: true }),
    peerOf: () => PUBLIC,
  };
  const guarded = guardedPost({
    policy: egressPolicy(),
    ca: [ca],
    resolver: { resolve: async () => [PUBLIC] },
    network,
  });
  let answered = 0;
  let waiting;
  const transport = Object.assign(
    async (request) => {
      const verdict = await guarded(request);
      if (verdict.kind !== 'answered' || verdict.status !== 204)
        throw new Error(`not delivered: ${JSON.stringify(verdict)}`);
      answered += 1;
      if (answered === waiting?.at) waiting.resolve();
      return verdict;
    },
    { close: () => guarded.close() },
  );
  const host = createHost({
    store,
    authenticate: [{ name: 'nobody', authenticate: () => undefined }],
    engine: { version: 1, refuse: () => undefined, execute: (_run, { signal }) => once(signal, 'abort') },
    secretKey: new Uint8Array(32),
    hasWorkspace: () => true,
    transport,
    webhooks: { durable: true, concurrency: { total: AT_ONCE, perSubscription: 4 } },
  });
  const { secretBox } = await import('../../packages/host-kit/src/sealing/secret-box.ts');
  const box = secretBox(new Uint8Array(32), systemRandom);
  const runs = [];
  await store.transaction(async (transaction) => {
    for (let index = 0; index < SUBSCRIPTIONS; index += 1) {
      const workspace = `w${index}`;
      const runId = `run_${index}`;
      await store.runs.insert(runOf(runId, workspace), transaction);
      await store.subscriptions.insert(subscriptionOf(`whk_${index}`, workspace, port, box), transaction);
      runs.push(runId);
    }
  });
  await host.start();
  let turn = 0;
  const append = () => {
    turn = (turn + 1) % runs.length;
    return host.events.append(runs[turn], { type: 'node.completed', payload: PAYLOAD });
  };
  return {
    async run() {
      const all = new Promise((resolve) => {
        waiting = { at: answered + EVENTS, resolve };
      });
      const started = performance.now();
      let left = EVENTS;
      const appender = async () => {
        while (left > 0) {
          left -= 1;
          await append();
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, appender));
      await all;
      return (EVENTS / (performance.now() - started)) * 1000;
    },
    async latency(receivers, perSecond, seconds) {
      const arrived = [];
      const listen = (message) => arrived.push(message);
      receivers.on('message', listen);
      const began = new Map();
      const times = [];
      const collect = (message) => {
        const queue = began.get(message.key);
        const start = queue?.shift();
        if (start !== undefined) times.push(message.at - start);
      };
      receivers.off('message', listen);
      receivers.on('message', collect);
      for (let count = 0; count < perSecond * seconds; count += 1) {
        const next = performance.now() + 1000 / perSecond;
        const index = (turn + 1) % runs.length;
        const key = `whk_${index}`;
        const start = performance.timeOrigin + performance.now();
        began.set(key, [...(began.get(key) ?? []), start]);
        await append();
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())));
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
      receivers.off('message', collect);
      times.sort((a, b) => a - b);
      const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
      return { median: at(0.5), p99: at(0.99), count: times.length };
    },
    stop: () => host.stop(1000),
  };
}

function runOf(runId, workspace) {
  return {
    runId,
    tenant: 'acme',
    workspace,
    mode: 'live',
    workflowId: 'bench',
    status: 'running',
    owner: { tenant: 'acme', workspace, principal: 'p_1' },
    inputs: {},
    tags: [],
    engineVersion: 1,
    eventLogSchemaVersion: 3,
    lastSequence: 0,
    createdAt: Date.now(),
  };
}

function subscriptionOf(webhookId, workspace, port, box) {
  return {
    webhookId,
    tenant: 'acme',
    workspaces: [workspace],
    mode: 'live',
    major: 1,
    url: `https://hooks.example:${port}/timed/${webhookId}`,
    events: ['node.completed'],
    tags: [],
    durable: true,
    status: 'active',
    circuit: { state: 'closed', consecutiveFailures: 0 },
    failures: [],
    signatureAlgorithms: ['v1'],
    sealedSecret: box.seal('a secret of the benchmark, long enough', webhookId),
    secretFingerprint: '00000000',
    createdAt: Date.now(),
  };
}

function rawLoop(port) {
  const lookup = (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
  const pool = new Agent({ connect: { ca, lookup }, connections: AT_ONCE, allowH2: false, pipelining: 1 });
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
    async run() {
      const started = performance.now();
      let left = EVENTS;
      const poster = async () => {
        while (left > 0) {
          left -= 1;
          await post();
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, poster));
      return (EVENTS / (performance.now() - started)) * 1000;
    },
    close: () => pool.destroy(),
  };
}
