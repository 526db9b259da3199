import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, platform } from 'node:process';

/** Sets the time of the day of single processes, through libfaketime. Their monotonic time and their timers go on. */
export interface FakeTime {
  /** Returns the environment of a process whose clock is set through `file`. */
  environment(file: string): Readonly<Record<string, string>>;
  /** Sets the clock by `stepMs` relative to that of the machine. The process notices it within a second. */
  set(file: string, stepMs: number): void;
}

/**
 * Finds libfaketime of the Debian package `faketime`.
 *
 * @returns undefined where the package is not installed: then no clock is set
 * @throws {Error} in CI on Linux when it is not installed, because a soak without this disturbance would pass unnoticed
 */
export function fakeTime(): FakeTime | undefined {
  const library = libraries().find((path) => existsSync(path));
  if (library === undefined) {
    if (platform === 'linux' && env.CI !== undefined) throw new Error(MISSING);
    return undefined;
  }
  return {
    environment: (file) => ({
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      // The name in the releases before 0.9.9, and since.
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // Files and their times stay those of the machine.
      NO_FAKE_STAT: '1',
    }),
    set(file, stepMs) {
      const seconds = Math.round(stepMs / 1000);
      // Replaced as a whole: a process may read it at any time.
      writeFileSync(`${file}.new`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
      renameSync(`${file}.new`, file);
    },
  };
}

const MISSING =
  'The soak sets the clocks of hosts, and libfaketime is missing. Install the Debian package faketime; ' +
  '.ci/run does it from soak/debian-packages.txt.';

/** Debian has one folder for each architecture. */
function libraries(): readonly string[] {
  const root = '/usr/lib';
  const folders = existsSync(root) ? readdirSync(root) : [];
  return folders.map((folder) => join(root, folder, 'faketime', 'libfaketime.so.1'));
}
