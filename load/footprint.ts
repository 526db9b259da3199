import { readdirSync, readFileSync } from 'node:fs';

/** The resources that a process holds at one moment, in MiB and in open file descriptors. */
export interface Footprint {
  /** Resident memory, which includes free parts of the heap that Node has not given back. */
  readonly megabytes: number;
  /** Objects of the heap, after a collection of garbage. */
  readonly heapMegabytes: number;
  readonly descriptors: number;
}

/** The options of Node that limit the heap of the host, and the greatest heap that they allow, in MiB. */
export const HEAP = {
  options: ['--max-old-space-size=128', '--max-semi-space-size=16'],
  mostMegabytes: 128 + 3 * 16,
} as const;

/** Reads the resident memory and the descriptors of a process from `/proc`. */
export function readProcess(pid: number): Omit<Footprint, 'heapMegabytes'> {
  const resident = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { megabytes: Math.round(Number(resident) / 1024), descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/**
 * Returns one sentence for each resource that kept growing after the process was warm. The resident memory is none of them:
 * Node enlarges its heap up to the limit before it collects all garbage, so it grows for minutes without a leak.
 *
 * @param callers the greatest number of connections at a time
 */
export function growthBetween(warm: Footprint, last: Footprint, callers: number): string[] {
  const grown: string[] = [];
  if (last.heapMegabytes > warm.heapMegabytes * 1.3 + 16)
    grown.push(`The heap kept growing: from ${warm.heapMegabytes} MiB to ${last.heapMegabytes} MiB of objects.`);
  if (last.descriptors > Math.max(warm.descriptors * 1.2, callers) + 60)
    grown.push(`File descriptors kept growing: from ${warm.descriptors} to ${last.descriptors}.`);
  return grown;
}

/**
 * Returns a sentence when a process has had more memory than docs/operations.md states for its configuration.
 *
 * @param callers the greatest number of connections at a time
 */
export function excessOf(megabytes: number, callers: number): string[] {
  const most = Math.ceil(HEAP.mostMegabytes + BESIDE_HEAP_MB + (callers * KB_OF_A_CONNECTION) / 1024);
  return megabytes > most ? [`The memory was ${megabytes} MiB, and its bound is ${most} MiB.`] : [];
}

/** The program, the event pages and the log lines. The bodies of the load are too short to count. */
const BESIDE_HEAP_MB = 90 + 8 + 4;
const KB_OF_A_CONNECTION = 10.5;
