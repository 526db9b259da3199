/** A source of randomness that repeats itself for the same seed. */
export interface Chance {
  /** Returns a number from 0 to below 1. */
  next(): number;
  /** Returns a whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** Returns true with the given probability, 0 to 1. */
  happens(probability: number): boolean;
  /** Returns one of the items, each with the same probability. */
  pick<T>(items: readonly [T, ...T[]]): T;
  /** Returns `size` bytes. */
  readonly random: (size: number) => Uint8Array;
}

/** Creates a source from a seed. The generator is mulberry32, which is small, fast and good enough for tests. */
export function chance(seed: number): Chance {
  // Seeds are often small neighbouring numbers, whose first values would be alike.
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
