import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, launch, sleep } from '../soak/child.ts';
import { CLIENTS, KEY, startClients } from './clients.ts';
import { excessOf, type Footprint, growthBetween, HEAP, readProcess } from './footprint.ts';
import { startReaders } from './readers.ts';
import { startReceivers } from './receivers.ts';

/** Options of {@link load}. */
export interface LoadOptions {
  /** The duration of the load. */
  readonly seconds: number;
  /** The number of concurrent readers of event streams. */
  readonly readers: number;
  /** Receives a line of progress every few seconds. */
  readonly say: (line: string) => void;
}

/** The result of {@link load}. */
export interface LoadOutcome {
  /** One sentence for each violation. */
  readonly findings: readonly string[];
  readonly figures: {
    readonly requests: number;
    readonly events: number;
    readonly delivered: number;
    /** The most resident memory, in MiB. */
    readonly mostMb: number;
    /** The objects of the heap after a collection of garbage, in MiB. */
    readonly warmHeapMb: number;
    readonly lastHeapMb: number;
    readonly warmDescriptors: number;
    readonly lastDescriptors: number;
  };
}

/** Starts a reference host and plays all of its callers at once: clients, stream readers and webhook receivers. */
export async function load({ seconds, readers: readerCount, say }: LoadOptions): Promise<LoadOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-load-'));
  const receivers = await startReceivers();
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify(configOf(join(folder, 'svc.db'), receivers.ports)));
  const host = launch([...HEAP.options, '--import', HEAP_PROBE, MAIN, '--config', config], join(folder, 'host.log'));
  try {
    const { url } = JSON.parse(await host.firstLine);
    const pid = host.process.pid ?? 0;
    const clients = await startClients(url, receivers.urls);
    const readers = startReaders(url, readerCount, clients.recentRuns);
    let mostMb = 0;
    const warm = await underLoad(seconds / 3, () => clients.requests() >= WARM_REQUESTS);
    const last = await underLoad((seconds * 2) / 3, () => true);
    await Promise.all([clients.stop(), readers.stop()]);
    const died =
      host.process.exitCode !== null ? [`The host exited unexpectedly with code ${host.process.exitCode}.`] : [];
    return {
      findings: [
        ...died,
        ...clients.findings,
        ...readers.findings,
        ...growthBetween(warm, last, readerCount + CLIENTS),
        ...excessOf(mostMb, readerCount + CLIENTS + BESIDE_CALLERS),
      ],
      figures: {
        requests: clients.requests(),
        events: readers.events(),
        delivered: receivers.delivered(),
        mostMb,
        warmHeapMb: warm.heapMegabytes,
        lastHeapMb: last.heapMegabytes,
        warmDescriptors: warm.descriptors,
        lastDescriptors: last.descriptors,
      },
    };

    /** Waits, then returns the footprint. */
    async function underLoad(length: number, isEnough: () => boolean): Promise<Footprint> {
      let samples = 0;
      const end = Date.now() + length * 1000;
      while (host.process.exitCode === null && (Date.now() < end || !isEnough())) {
        await sleep(Math.min(1000, length * 250));
        const { megabytes, descriptors } = readProcess(pid);
        mostMb = Math.max(mostMb, megabytes);
        samples++;
        if (samples % 5 === 0) {
          say(
            `${clients.requests()} requests, ${readers.events()} events, ${megabytes} MB, ${descriptors} descriptors`,
          );
        }
      }
      const heapMegabytes = await heapOf(host);
      return { ...readProcess(pid), heapMegabytes };
    }
  } finally {
    host.kill('SIGKILL');
    await host.ended;
    await receivers.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Asks the host for the objects of its heap after a collection of garbage. */
async function heapOf(host: Child): Promise<number> {
  const answer = once(host.process, 'message');
  host.process.send('measure the heap');
  const [{ heapMegabytes }] = await Promise.race([answer, host.ended.then((how) => Promise.reject(new Error(how)))]);
  return heapMegabytes;
}

/** Connections to the receivers. */
const BESIDE_CALLERS = 64;
const HEAP_PROBE = new URL('./heap.mjs', import.meta.url).href;

/**
 * A host is warm after this many requests. A time alone would compare a cold host with a warm one on a slow machine.
 */
const WARM_REQUESTS = 200;
const MAIN = fileURLToPath(new URL('../examples/reference-host/dist/main.js', import.meta.url));

function configOf(database: string, receiverPorts: readonly number[]): object {
  return {
    listen: { port: 0 },
    store: `sqlite:${database}`,
    secretKey: randomBytes(32).toString('base64'),
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [
      {
        id: 'load',
        key: KEY,
        tenant: 'acme',
        workspaces: ['acme-prod'],
        principal: 'p_load',
        scopes: ['runs:create', 'runs:read', 'runs:cancel', 'webhooks:manage', 'audit:read'],
      },
    ],
    webhooks: {
      durable: true,
      retryPolicy: { maxAttempts: 2, backoff: 'fixed', delayMs: 100 },
      attemptTimeoutMs: 1000,
    },
    egress: { allowLoopback: receiverPorts },
  };
}
