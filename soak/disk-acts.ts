import type { Chance } from '@svc/tools/chance';
import type { PostgresServer } from '@svc/tools/postgres';
import { sleep } from './child.ts';
import { cutPower } from './cut-power.ts';
import type { FaultyDisk } from './faulty-disk.ts';
import type { Hosts } from './hosts.ts';

/** The counts of what a disturbance has done, by name. */
export type Effects = Readonly<Record<string, number>>;

/** The disturbances of the disk below a database. Each resolves when the process that uses it is up again. */
export interface DiskActs {
  readonly subject: string;
  /** Returns false while the process is disturbed otherwise. */
  isIdle(): boolean;
  /** The disk is full for `ms` milliseconds. */
  fill(room: 'full' | 'growing', ms: number): Promise<Effects>;
  /** One flush fails, and the writes before it are lost with it. The process ends, and starts again after `ms`. */
  failFlush(ms: number): Promise<Effects>;
  /** The power fails at the start of the n-th flush, and is back after `ms`. Undefined: cannot be done to this store. */
  readonly cutPower: ((flushes: number, ms: number) => Promise<Effects>) | undefined;
}

/** The disk below the SQLite database of the first host. */
export function diskOfHost(hosts: Hosts, database: string, disk: FaultyDisk, chance: Chance): DiskActs {
  return {
    subject: `the disk of host ${HOST}`,
    isIdle: () => hosts.idle().includes(HOST),
    fill: (room, ms) => hosts.during(HOST, () => filled(disk, room, ms)),
    async failFlush(ms) {
      const before = disk.refused().flushes;
      disk.failFlush();
      // The host looks at its database at least once a second, and stops in order after a failed flush.
      await hosts.death(HOST, 'exit code 1', DEATH_MS);
      disk.heal();
      return { 'flushes failed': disk.refused().flushes - before, ...(await lost(ms)) };
    },
    async cutPower(flushes, ms) {
      disk.killAtFlush(flushes);
      // A host that has little to do may not get so far: its power is cut between two flushes then.
      await hosts.death(HOST, undefined, CUT_MS);
      disk.heal();
      return lost(ms);
    },
  };

  async function lost(ms: number): Promise<Effects> {
    const { unflushed, dropped, torn } = cutPower(database, disk.journal, chance);
    await sleep(ms);
    await hosts.boot(HOST);
    return { 'unflushed writes': unflushed, 'writes dropped': dropped, 'writes torn': torn };
  }
}

const HOST = 0;
const DEATH_MS = 60_000;
const CUT_MS = 10_000;

/** PostgreSQL flushes with each commit. */
const FLUSH_MS = 5000;

/** The disk below the data of PostgreSQL. Its processes start again by themselves, or end and are started. */
export function diskOfServer(server: PostgresServer, disk: FaultyDisk): DiskActs {
  return {
    subject: 'the disk of PostgreSQL',
    isIdle: () => true,
    async fill(room, ms) {
      const effects = await filled(disk, room, ms);
      await server.revive();
      return effects;
    },
    async failFlush(ms) {
      const before = disk.refused().flushes;
      disk.failFlush();
      for (const end = Date.now() + FLUSH_MS; disk.refused().flushes === before && Date.now() < end; ) await sleep(50);
      disk.heal();
      await sleep(ms);
      await server.revive();
      return { 'flushes failed': disk.refused().flushes - before };
    },
    // Flushes and writes of one file come from several processes, whose order the journal cannot tell.
    cutPower: undefined,
  };
}

async function filled(disk: FaultyDisk, room: 'full' | 'growing', ms: number): Promise<Effects> {
  const before = disk.refused().writes;
  disk.fill(room);
  await sleep(ms);
  disk.heal();
  return { 'writes refused': disk.refused().writes - before };
}
