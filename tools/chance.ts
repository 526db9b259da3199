/** All that is random in a test, from one seed. */
export interface Chance {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  happens(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** So many bytes. */
  readonly random: (size: number) => Uint8Array;
}

/** The generator is mulberry32: small, fast, and good enough to shuffle a world with. */
export function chance(seed: number): Chance {
  // Spread, because seeds are small numbers that lie beside each other.
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    happens: (probability) => next() < probability,
    pick: (items) => items[below(items.length)] ?? items[0],
    random: (size) => Uint8Array.from({ length: size }, () => below(256)),
  };
}
