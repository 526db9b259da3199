import { randomFillSync } from 'node:crypto';

/** Where identifiers, secrets and jitter come from: `size` unpredictable bytes. */
export type Random = (size: number) => Uint8Array;

/** The operating system's generator, asked for many bytes at a time: an id needs few. No byte is handed out twice. */
export const systemRandom: Random = (size) => {
  if (size > POOL.length) return randomFillSync(new Uint8Array(size));
  if (used + size > POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  const bytes = POOL.slice(used, used + size);
  // What has been handed out may become a secret, and is not kept here.
  POOL.fill(0, used, used + size);
  used += size;
  return bytes;
};

const POOL = new Uint8Array(4096);
let used = POOL.length;

/** A fraction in [0, 1) drawn from `random`. */
export function fraction(random: Random): number {
  const [a = 0, b = 0, c = 0, d = 0] = random(4);
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) / 2 ** 32;
}
