import { randomFillSync } from 'node:crypto';

/** Returns `size` unpredictable bytes, for identifiers, secrets and jitter. The array belongs to the caller. */
export type Random = (size: number) => Uint8Array;

/**
 * Returns bytes of the operating system's generator. It draws 4 096 bytes at a time, because a system call for each id
 * of a few bytes is slow. No byte is returned twice.
 */
export const systemRandom: Random = (size) => {
  if (size > POOL.length) return randomFillSync(new Uint8Array(size));
  if (used + size > POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  const bytes = POOL.slice(used, used + size);
  // The caller may use these bytes as a secret: they must not stay in the pool.
  POOL.fill(0, used, used + size);
  used += size;
  return bytes;
};

const POOL = new Uint8Array(4096);
let used = POOL.length;

/** Returns a number from 0 up to, not including, 1, with 32 random bits. */
export function fraction(random: Random): number {
  const [a = 0, b = 0, c = 0, d = 0] = random(4);
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) / 2 ** 32;
}
