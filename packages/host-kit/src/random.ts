import { randomFillSync } from 'node:crypto';

/** Where identifiers, secrets and jitter come from: `size` unpredictable bytes. */
export type Random = (size: number) => Uint8Array;

/** The operating system's generator. */
export const systemRandom: Random = (size) => randomFillSync(new Uint8Array(size));

/** A fraction in [0, 1) drawn from `random`. */
export function fraction(random: Random): number {
  const [a = 0, b = 0, c = 0, d = 0] = random(4);
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) / 2 ** 32;
}
