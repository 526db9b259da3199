import { readdirSync, readFileSync } from 'node:fs';

/** The resources that a process holds at one moment: resident memory in MB, and open file descriptors. */
export interface Footprint {
  readonly megabytes: number;
  readonly descriptors: number;
}

/** Reads the footprint of a process from `/proc`. */
export function footprintOf(pid: number): Footprint {
  const resident = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { megabytes: Math.round(Number(resident) / 1024), descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/**
 * Returns one sentence for each resource that kept growing after the process was warm.
 *
 * @param callers the greatest number of connections at a time
 */
export function growthBetween(warm: Footprint, last: Footprint, callers: number): string[] {
  const grown: string[] = [];
  if (last.megabytes > warm.megabytes * 1.3 + 40)
    grown.push(`Memory kept growing: from ${warm.megabytes} MB to ${last.megabytes} MB.`);
  if (last.descriptors > Math.max(warm.descriptors * 1.2, callers) + 60)
    grown.push(`File descriptors kept growing: from ${warm.descriptors} to ${last.descriptors}.`);
  return grown;
}
