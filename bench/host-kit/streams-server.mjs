// One server of the benchmark as a process of its own: `node streams-server.mjs bare|ours`. Prints its port, and takes
// commands as messages.

import { createServer } from 'node:http';
import { argv } from 'node:process';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, systemRandom } from '@svc/host-kit';
import { toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { KEY, RUN } from './fixtures.mjs';

const PAYLOAD = { level: 'info', message: 'x'.repeat(160) };

const SERVERS = {
  async bare() {
    const logs = new Map();
    const readers = new Map();
    const listener = (request, response) => {
      const runId = request.url.split('/')[3];
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(':keepalive\n\n');
      readers.get(runId).add(response);
      response.on('close', () => readers.get(runId).delete(response));
      for (const frame of logs.get(runId)) response.write(frame);
    };
    return {
      listener,
      async create(runId) {
        logs.set(runId, []);
        readers.set(runId, new Set());
      },
      async append(runId) {
        const sequence = logs.get(runId).length;
        const event = {
          eventId: `evt_01k000000000000000000${String(sequence).padStart(5, '0')}`,
          runId,
          type: 'log.appended',
          sequence,
          timestamp: new Date().toISOString(),
          payload: PAYLOAD,
          schemaVersion: 1,
          engineVersion: 1,
        };
        const frame = Buffer.from(`id: ${sequence}\nevent: log.appended\ndata: ${JSON.stringify(event)}\n\n`);
        logs.get(runId).push(frame);
        for (const response of readers.get(runId)) response.write(frame);
      },
    };
  },
  async ours() {
    const store = memoryStore();
    const record = {
      id: 'key_1',
      hash: hashApiKey(KEY),
      tenant: 'acme',
      workspaces: ['acme-prod'],
      principal: 'p_7f3a',
      scopes: ['runs:read'],
      mode: 'live',
    };
    const host = createHost({
      store,
      authenticate: [apiKeyLane({ keys: memoryKeyStore([record]) })],
      engine: { execute: () => new Promise(() => {}) },
      secretKey: systemRandom(32),
    });
    await host.start();
    const { startedAt: _1, completedAt: _2, ...fresh } = { ...RUN, status: 'pending', lastSequence: -1 };
    return {
      listener: toNodeListener(host),
      create: (runId) => store.transaction((transaction) => store.runs.insert({ ...fresh, runId }, transaction)),
      append: (runId) => host.events.append(runId, { type: 'log.appended', payload: PAYLOAD }),
    };
  },
};

const { listener, create, append } = await SERVERS[argv[2]]();
let runs;

process.on('message', async ({ fill, events, append: count, paced, weigh }) => {
  if (weigh) process.send({ resident: process.memoryUsage().rss });
  if (fill !== undefined) {
    runs = fill;
    for (const runId of Object.values(runs)) await create(runId);
    for (let event = 0; event < events; event += 1) await append(runs.ended);
    process.send({});
  }
  for (let event = 0; event < (count ?? 0); event += 1) {
    await append(runs.live);
    await turn();
  }
  if (paced !== undefined) {
    const appended = [];
    for (let event = 0; event < paced.perSecond * paced.seconds; event += 1) {
      appended.push(performance.timeOrigin + performance.now());
      await append(runs.live);
      await sleep(1000 / paced.perSecond);
    }
    process.send({ appended });
  }
});

const server = createServer(listener);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
