import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, sleep } from '../soak/child.ts';
import { CLIENTS, KEY, startClients } from './clients.ts';
import { type Footprint, footprintOf, growthBetween } from './footprint.ts';
import { startReaders } from './readers.ts';
import { startReceivers } from './receivers.ts';

export interface LoadOptions {
  readonly seconds: number;
  /** Of event streams, at a time. */
  readonly readers: number;
  /** Told every few seconds how it stands. */
  readonly say: (line: string) => void;
}

export interface LoadOutcome {
  /** A sentence for everything that should not have been. */
  readonly findings: readonly string[];
  readonly figures: {
    readonly requests: number;
    readonly events: number;
    readonly delivered: number;
    readonly warmMb: number;
    readonly lastMb: number;
    readonly warmDescriptors: number;
    readonly lastDescriptors: number;
  };
}

/** Boots a reference host and is all of its callers at once, for a while. */
export async function load({ seconds, readers: places, say }: LoadOptions): Promise<LoadOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-load-'));
  const receivers = await startReceivers();
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify(configOf(join(folder, 'svc.db'), receivers.ports)));
  const host = launch([MAIN, '--config', config], join(folder, 'host.log'));
  try {
    const { url } = JSON.parse(await host.firstLine);
    const pid = host.process.pid ?? 0;
    const clients = await startClients(url, receivers.urls);
    const readers = startReaders(url, places, clients.recentRuns);
    const warm = await underLoad(seconds / 3, () => footprintOf(pid));
    const last = await underLoad((seconds * 2) / 3, () => footprintOf(pid));
    await Promise.all([clients.stop(), readers.stop()]);
    const died = host.process.exitCode !== null ? [`The host ended by itself with ${host.process.exitCode}.`] : [];
    return {
      findings: [...died, ...clients.findings, ...readers.findings, ...growthBetween(warm, last, places + CLIENTS)],
      figures: {
        requests: clients.requests(),
        events: readers.events(),
        delivered: receivers.delivered(),
        warmMb: warm.megabytes,
        lastMb: last.megabytes,
        warmDescriptors: warm.descriptors,
        lastDescriptors: last.descriptors,
      },
    };

    /** Lets time pass, and tells of the footprint at its end: the least of the last few, as a collector comes and goes. */
    async function underLoad(length: number, measure: () => Footprint): Promise<Footprint> {
      const seen: Footprint[] = [];
      for (const end = Date.now() + length * 1000; Date.now() < end; ) {
        await sleep(Math.min(1000, length * 250));
        const footprint = measure();
        seen.push(footprint);
        if (seen.length % 5 === 0) {
          const { megabytes, descriptors } = footprint;
          say(
            `${clients.requests()} requests, ${readers.events()} events, ${megabytes} MB, ${descriptors} descriptors`,
          );
        }
      }
      return seen.slice(-5).reduce((least, next) => (next.megabytes < least.megabytes ? next : least));
    }
  } finally {
    host.kill('SIGKILL');
    await host.ended;
    await receivers.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

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
