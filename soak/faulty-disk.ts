import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { env, platform } from 'node:process';
import { fileURLToPath } from 'node:url';

/** The disk of one process, as the process sees it. Faults concern its database alone. */
export interface FaultyDisk {
  /** The environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
  /** The beginning of the names of the journals, for `cutPower`. */
  readonly journal: string;
  /** `full`: no write succeeds, as on a volume that allocates for each write. `growing`: no file gets longer. */
  fill(room: 'full' | 'growing'): void;
  /** Lets the next flush fail with an I/O error. */
  failFlush(): void;
  /** Kills the process at the start of its n-th flush from now on. */
  killAtFlush(n: number): void;
  /** Ends every fault. */
  heal(): void;
  /** Returns the numbers of writes and flushes that have failed so far. */
  refused(): { readonly writes: number; readonly flushes: number };
}

/** Options of {@link FaultyDisks}. */
export interface FaultyDiskOptions {
  /** For the control file and the journals. */
  readonly folder: string;
  readonly name: string;
  /** The beginning of the paths that faults concern: a SQLite database, or the data folder of PostgreSQL. */
  readonly files: string;
  /** Whether to note the writes that are not flushed, for `cutPower`. Only for a SQLite database. */
  readonly hasJournal: boolean;
}

/** Creates the disk of one process. */
export type FaultyDisks = (options: FaultyDiskOptions) => FaultyDisk;

/**
 * Compiles the library that stands between a process and its disk, with the C compiler of the machine.
 *
 * @returns undefined where there is no compiler: then no disk is faulty
 * @throws {Error} in CI on Linux without a compiler, because a soak without these disturbances would pass unnoticed
 */
export function faultyDisks(folder: string): FaultyDisks | undefined {
  const library = join(folder, 'faulty-disk.so');
  try {
    if (platform !== 'linux') return undefined;
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl', '-lpthread'], { stdio: 'pipe' });
  } catch (cause) {
    if (env.CI !== undefined) throw new Error(MISSING, { cause });
    return undefined;
  }
  return (options) => faultyDisk(library, options);
}

const SOURCE = fileURLToPath(new URL('./faulty-disk.c', import.meta.url));
const MISSING =
  'The soak makes disks faulty through a library in C, which did not compile. Install the Debian packages gcc and ' +
  'libc6-dev; .ci/run does it from soak/debian-packages.txt.';

function faultyDisk(library: string, { folder, name, files, hasJournal }: FaultyDiskOptions): FaultyDisk {
  const control = join(folder, `${name}.disk`);
  const journal = join(folder, `${name}.unflushed`);
  writeFileSync(control, Buffer.alloc(FIELDS * 4));
  // PostgreSQL runs under another account.
  chmodSync(control, 0o666);
  return {
    environment: {
      LD_PRELOAD: library,
      FAULTY_DISK_CONTROL: control,
      FAULTY_DISK_FILES: files,
      ...(hasJournal && { FAULTY_DISK_JOURNAL: journal }),
    },
    journal,
    fill: (room) => set(control, FULL, ROOM[room]),
    failFlush: () => set(control, FAILING, 1),
    killAtFlush: (n) => set(control, DEADLY, n),
    heal() {
      for (const field of [FULL, FAILING, DEADLY]) set(control, field, 0);
    },
    refused: () => ({ writes: get(control, REFUSED_WRITES), flushes: get(control, REFUSED_FLUSHES) }),
  };
}

// The order of `struct control`, whose fields have four bytes.
const [FULL, FAILING, DEADLY, REFUSED_WRITES, REFUSED_FLUSHES, FIELDS] = [0, 1, 2, 3, 4, 5];
const ROOM = { full: 1, growing: 2 } as const;

/** Writes into the file that the process has mapped into its memory. */
function set(control: string, field: number, value: number): void {
  const descriptor = openSync(control, 'r+');
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  writeSync(descriptor, bytes, 0, 4, field * 4);
  closeSync(descriptor);
}

function get(control: string, field: number): number {
  const descriptor = openSync(control, 'r');
  const bytes = Buffer.alloc(4);
  readSync(descriptor, bytes, 0, 4, field * 4);
  closeSync(descriptor);
  return bytes.readUInt32LE();
}
