import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';

/** A disk that can be filled, for the files of one host. */
export interface SmallDisk {
  readonly path: (name: string) => string;
  /** Leaves no room for the process. */
  fill(pid: number): void;
  /** Makes room again. */
  free(pid: number): void;
  remove(): void;
}

/**
 * Makes a disk of 6 MB: a file system in memory where this process may mount one. Elsewhere a folder, and `fill` limits
 * the size of the files that the process writes, which fails its writes in the same way.
 */
export function smallDisk(folder: string): SmallDisk {
  mkdirSync(folder);
  const path = (name: string) => `${folder}/${name}`;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'svc-small-disk', folder], { stdio: 'ignore' });
  } catch {
    const limit = (pid: number, bytes: number | 'unlimited') =>
      execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
    return {
      path,
      fill: (pid) => limit(pid, 4096),
      free: (pid) => limit(pid, 'unlimited'),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  }
  return {
    path,
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      try {
        writeFileSync(path('filler'), Buffer.alloc(Number(bavail) * Number(bsize)));
      } catch {
        // The host took a part of the room in between, so the disk is full.
      }
    },
    free: () => rmSync(path('filler')),
    remove() {
      execFileSync('umount', ['--lazy', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
