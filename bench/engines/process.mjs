// A host with an engine as a process of its own: `node process.mjs '{"name":…,"place":…,"server":…}'`. Its parent tells it
// to do work by IPC, and it reports what it measured.
import { readFileSync } from 'node:fs';
import { argv } from 'node:process';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost } from '@svc/host-kit';
import { openStore } from '../host-kit/stores.mjs';
import { CANDIDATES } from './candidates.mjs';
import { workflowsOf } from './workflows.mjs';

const KEY = 'key-of-the-benchmark-of-engines-0123456789';
const { name, place, server } = JSON.parse(argv[2]);

/** The calls of the first step in this process. */
const done = { first: 0 };
let hanging = 0;
let allHang = () => {};
let hangs = false;
const workflows = workflowsOf({
  onFirst: () => {
    done.first += 1;
  },
  /** A step of a process that `hang` was told to never ends. */
  onSecond: async () => {
    if (!hangs) return;
    hanging += 1;
    allHang();
    await new Promise(() => {});
  },
});

const { engine, close } = await CANDIDATES[name].open({ workflows, place, server });
const store = await openStore(place);
const host = createHost({
  ...{ store, engine, secretKey: new Uint8Array(32) },
  authenticate: [apiKeyLane({ keys: memoryKeyStore([keyRecord()]) })],
});
await host.start();

const COMMANDS = {
  /**
   * Makes runs, `atOnce` at a time, and waits for the end of each. Returns the times, and the
   * processor time of all, in ms.
   */
  async measure({ runs, atOnce }) {
    const times = [];
    let left = runs;
    const before = process.cpuUsage();
    const started = performance.now();
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (left > 0) {
          left -= 1;
          const began = performance.now();
          await end(await create('three'));
          times.push(performance.now() - began);
        }
      }),
    );
    const elapsed = performance.now() - started;
    const { user, system } = process.cpuUsage(before);
    return { times, elapsed, cpuMs: (user + system) / 1000 };
  },
  /** Makes runs whose second step never ends, and waits until all are in it. */
  async hang({ runs }) {
    hangs = true;
    const runIds = await Promise.all(Array.from({ length: runs }, () => create('three')));
    await new Promise((resolve) => {
      allHang = () => hanging === runs && resolve();
      allHang();
    });
    return { runIds };
  },
  /** Waits for the end of runs. Returns how many steps were done again. */
  async finish({ runIds }) {
    await Promise.all(runIds.map(end));
    return { repeated: done.first };
  },
  memory: () => ({ peakMb: peakMb() }),
  async stop() {
    await host.stop(5000);
    await close();
    return {};
  },
};

process.on('message', async ({ command, ...options }) => {
  const answer = await COMMANDS[command](options);
  process.send({ done: command, ...answer });
  if (command === 'stop') process.disconnect();
});
process.send({ done: 'start' });

async function create(workflowId) {
  const { runId } = await call('/v1/runs', { workflowId, inputs: { text: 'x'.repeat(400) } });
  return runId;
}

/** Waits for the end of a run, which must complete. The host wakes a poll as soon as there is an event. */
async function end(runId) {
  for (let after = -1; ; ) {
    const page = await call(`/v1/runs/${runId}/events/poll?timeout=30&lastSequence=${after}`);
    if (page.isTerminal && page.runStatus === 'completed') return;
    if (page.isTerminal) throw new Error(`The run ${runId} did not complete: ${JSON.stringify(page.events.at(-1))}.`);
    after = page.lastEventSeq;
  }
}

async function call(path, sent) {
  const headers = { authorization: `Bearer ${KEY}`, ...(sent && { 'content-type': 'application/json' }) };
  const body = sent && { method: 'POST', body: JSON.stringify(sent) };
  const response = await host.fetch(new Request(`http://host.test${path}`, { headers, ...body }));
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: the host answered ${response.status} ${text}.`);
  return JSON.parse(text);
}

function keyRecord() {
  return {
    ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' },
    ...{ scopes: ['runs:create', 'runs:read'], mode: 'live' },
  };
}

/** The greatest resident memory so far in MB, as the kernel counts it. */
function peakMb() {
  try {
    return (Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024) / 1e6;
  } catch {
    return (process.resourceUsage().maxRSS * 1024) / 1e6;
  }
}
