import { clockOf } from '../clock-of.ts';
import type { OptionNames } from '../known-options.ts';
import { forgetHorizon } from './horizon.ts';
import type { ReplayStoreOptions } from './replay-store.ts';

/** Counts the proofs that a process has recorded, by the second in which they expire. */
export class ReplayCapacity {
  readonly #maxEntries: number;
  readonly #onFull: ReplayStoreOptions['onFull'];
  readonly #horizon: () => number;
  readonly #monotonic: () => number;
  readonly #bySecond = new Map<number, number>();
  #count = 0;
  #sweptAt = Number.NEGATIVE_INFINITY;
  #toldAt = Number.NEGATIVE_INFINITY;

  /** @throws {TypeError} when a clock is not a function, or `maxEntries` is not a whole number of at least 1 */
  constructor(of: string, options: ReplayStoreOptions, maxEntries: number) {
    const { monotonic = () => performance.now(), onFull } = options;
    const now = clockOf(of, options.now);
    if (typeof monotonic !== 'function') {
      throw new TypeError(`${of}: monotonic must be a function. Omit it, or pass () => performance.now().`);
    }
    if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
      throw new TypeError(`${of}: maxEntries must be a whole number, at least 1.`);
    }
    this.#maxEntries = maxEntries;
    this.#onFull = onFull;
    this.#monotonic = monotonic;
    this.#horizon = forgetHorizon(now, monotonic);
  }

  /** Returns the time in ms before which expired proofs may be forgotten. */
  horizon(): number {
    return this.#horizon();
  }

  /** Counts recorded proofs that expire in the same second. */
  add(expiresAt: number, count = 1): void {
    const second = Math.floor(expiresAt / 1000);
    this.#bySecond.set(second, (this.#bySecond.get(second) ?? 0) + count);
    this.#count += count;
  }

  /** Returns how many further proofs may be recorded. */
  room(horizon: number): number {
    this.#sweep(Math.floor(horizon / 1000));
    return Math.max(0, this.#maxEntries - this.#count);
  }

  /** Calls `onFull`, at most once a minute. */
  tellFull(): void {
    const time = this.#monotonic();
    if (time - this.#toldAt < MINUTE_MS) return;
    this.#toldAt = time;
    this.#onFull?.({ maxEntries: this.#maxEntries });
  }

  /** Once a second, over as many entries as a proof may live seconds. */
  #sweep(second: number): void {
    if (second === this.#sweptAt) return;
    this.#sweptAt = second;
    for (const [expiry, count] of this.#bySecond) {
      if (!(expiry < second)) continue;
      this.#bySecond.delete(expiry);
      this.#count -= count;
    }
  }
}

/** The names of {@link ReplayStoreOptions}. */
export const REPLAY_STORE_OPTIONS: OptionNames<ReplayStoreOptions> = {
  now: true,
  monotonic: true,
  maxEntries: true,
  onFull: true,
};

const MINUTE_MS = 60_000;
