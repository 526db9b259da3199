import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chance } from '@svc/tools/chance';
import { scheduled } from './disturbances.ts';
import type { Evidence } from './evidence.ts';
import { fakeTime } from './fake-time.ts';
import { faultyDisks } from './faulty-disk.ts';
import { counted, type Figures, figuresOf, NO_FIGURES } from './figures.ts';
import { gather } from './gather.ts';
import { type Finding, judge } from './judge.ts';
import { recordsIn } from './records.ts';
import { HOST_NAMES, type StoreName, startWorld, type World } from './world.ts';

/** Options of {@link soak}. */
export interface SoakOptions {
  readonly store: StoreName;
  /** The duration of the disturbances. The recovery comes on top. */
  readonly seconds: number;
  /** Determines the schedule of disturbances. */
  readonly seed: number;
  /** Keeps the folder also without findings. Default: false. */
  readonly keep?: boolean;
  /** Receives a line of progress every few seconds. */
  readonly say: (line: string) => void;
}

/** The result of {@link soak}. */
export interface Outcome {
  readonly findings: readonly Finding[];
  readonly figures: Figures;
  /** The folder with logs, records, evidence and database; undefined when it was deleted. */
  readonly folder: string | undefined;
}

/**
 * Starts reference hosts on a real store, clients that create runs and receivers of deliveries, and disturbs all of
 * them: kills, stalls, restarts, failing receivers. Then waits until they have recovered, and judges every event.
 */
export async function soak({ store, seconds, seed, keep = false, say }: SoakOptions): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), `svc-soak-${store}-${seed}-`));
  // PostgreSQL runs under another account, which must be able to enter the folder.
  chmodSync(folder, 0o755);
  try {
    const evidence = await disturbed(store, seconds, seed, folder, say);
    const findings = judge(evidence);
    writeFileSync(join(folder, 'evidence.json'), JSON.stringify(evidence));
    const isKept = keep || findings.length > 0;
    if (!isKept) rmSync(folder, { recursive: true, force: true });
    return { findings, figures: figuresOf(evidence), folder: isKept ? folder : undefined };
  } catch (error) {
    const fault = `the soak was aborted: ${error instanceof Error ? error.stack : error}`;
    return { findings: [{ rule: 'unexplained', fault }], figures: NO_FIGURES, folder };
  }
}

async function disturbed(
  store: StoreName,
  seconds: number,
  seed: number,
  folder: string,
  say: SoakOptions['say'],
): Promise<Evidence> {
  const clocks = fakeTime();
  const disks = faultyDisks(folder);
  const schedule = scheduled(chance(seed), seconds * 1000, {
    hosts: HOST_NAMES[store].length,
    hasPostgres: store === 'postgres',
    hasFakeTime: clocks !== undefined,
    hasFaultyDisk: disks !== undefined,
  });
  writeFileSync(join(folder, 'schedule.json'), JSON.stringify(schedule, undefined, 1));
  const world = await startWorld(store, seed, folder, { clocks, disks });
  const records = recordsIn(world.receivers.files);
  const started = Date.now();
  const progress = setInterval(
    () => say(`${elapsed(started)} of ${seconds} s: ${standing(world, records.read().length)}`),
    SAY_MS,
  );
  try {
    await world.disturb(schedule);
    await world.clients.stop();
    clearInterval(progress);
    say(`${elapsed(started)} s: every process is up again; ${standing(world, records.read().length)}`);
    return await gather(world, records, RECOVERY_MS, (missing) =>
      say(`${elapsed(started)} s: waiting for ${missing} more runs or events`),
    );
  } finally {
    clearInterval(progress);
    await world.end();
  }
}

const SAY_MS = 5000;
/** Claims and runs of a killed host are taken over after 16 s, retries take 10 s, and the machine may be slow. */
const RECOVERY_MS = 90_000;

function elapsed(since: number): number {
  return Math.round((Date.now() - since) / 1000);
}

function standing(world: World, requests: number): string {
  const done = Object.entries(counted(world.disturbances.map(({ kind }) => kind)));
  const acts = done.map(([kind, count]) => `${count} × ${kind}`).join(', ');
  return `${world.clients.acknowledged.length} creations acknowledged, ${requests} requests received; ${acts}`;
}
