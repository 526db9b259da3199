import { readdirSync, readFileSync } from 'node:fs';

/** What a process holds at a moment. */
export interface Footprint {
  readonly megabytes: number;
  readonly descriptors: number;
}

export function footprintOf(pid: number): Footprint {
  const resident = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { megabytes: Math.round(Number(resident) / 1024), descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/**
 * A sentence for each that went on growing once the process was warm.
 *
 * @param callers how many may have a connection at a time
 */
export function growthBetween(warm: Footprint, last: Footprint, callers: number): string[] {
  const grown: string[] = [];
  if (last.megabytes > warm.megabytes * 1.3 + 40)
    grown.push(`Memory went on growing: ${warm.megabytes} MB, then ${last.megabytes} MB.`);
  if (last.descriptors > Math.max(warm.descriptors * 1.2, callers) + 60)
    grown.push(`File descriptors went on growing: ${warm.descriptors}, then ${last.descriptors}.`);
  return grown;
}
