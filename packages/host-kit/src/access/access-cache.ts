import type { AccessRecord } from '../ports/access.ts';

export interface AccessCacheOptions {
  /** Returns the records with one of these lookups (at most 256), as they are stored when it is called. */
  readonly load: (lookups: readonly string[]) => Promise<readonly AccessRecord[]>;
  /** Returns the lookup of a record. */
  readonly lookupOf: (record: AccessRecord) => string;
  /** Whether every change is announced by `forget` before it counts as made. While false, nothing is answered from memory. */
  readonly isCurrent: () => boolean;
  /** Most lookups in memory, at least 2. */
  readonly maxLookups: number;
}

interface Waiting {
  readonly lookup: string;
  readonly resolve: (records: readonly AccessRecord[]) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * A cache of records by their lookups. A lookup without records is in memory, too: that of most requests has none, and a
 * new record is announced. No lookup gets an answer that was read before it began, unless the answer is in memory and was
 * not forgotten.
 */
export class AccessCache {
  readonly #options: AccessCacheOptions;
  /** Two generations: a lookup that is found in the old one moves to the young one, and the old one is dropped whole. */
  #young = new Map<string, readonly AccessRecord[]>();
  #old = new Map<string, readonly AccessRecord[]>();
  #waiting: Waiting[] = [];
  #isLoading = false;
  /** Lookups that were forgotten while a load is under way; `all` when everything was. */
  #forgotten: Set<string> | 'all' = new Set();

  constructor(options: AccessCacheOptions) {
    this.#options = options;
  }

  /** Returns the records of a lookup, without a promise when they are in memory. */
  get(lookup: string): readonly AccessRecord[] | Promise<readonly AccessRecord[]> {
    const found = this.#options.isCurrent() ? this.#cached(lookup) : undefined;
    if (found !== undefined) return found;
    if (this.#waiting.length >= MOST_WAITING) return Promise.reject(new Error('access: too many lookups wait.'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ lookup, resolve, reject });
      if (!this.#isLoading) void this.#loadAll();
    });
  }

  /** Forgets a lookup, or all. Call it after a change is stored, and before it is answered. */
  forget(lookup?: string): void {
    if (lookup === undefined) {
      this.#young = new Map();
      this.#old = new Map();
      this.#forgotten = 'all';
      return;
    }
    this.#young.delete(lookup);
    this.#old.delete(lookup);
    if (this.#forgotten !== 'all') this.#forgotten.add(lookup);
  }

  #cached(lookup: string): readonly AccessRecord[] | undefined {
    const young = this.#young.get(lookup);
    if (young !== undefined) return young;
    const old = this.#old.get(lookup);
    if (old === undefined) return undefined;
    this.#old.delete(lookup);
    this.#keep(lookup, old);
    return old;
  }

  #keep(lookup: string, records: readonly AccessRecord[]): void {
    if (this.#young.size >= this.#options.maxLookups / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(lookup, records);
  }

  async #loadAll(): Promise<void> {
    this.#isLoading = true;
    // Lookups of the same turn of the event loop share the first load.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#loadBatch(this.#waiting.splice(0, LARGEST_BATCH));
    this.#isLoading = false;
  }

  async #loadBatch(batch: readonly Waiting[]): Promise<void> {
    this.#forgotten = new Set();
    const { load, lookupOf, isCurrent } = this.#options;
    const wasCurrent = isCurrent();
    try {
      const found = byLookup(await load([...new Set(batch.map(({ lookup }) => lookup))]), lookupOf);
      for (const { lookup, resolve } of batch) {
        const records = found.get(lookup) ?? NONE;
        if (wasCurrent && isCurrent() && !this.#wasForgotten(lookup)) this.#keep(lookup, records);
        resolve(records);
      }
    } catch (cause) {
      for (const { reject } of batch) reject(cause);
    }
  }

  #wasForgotten(lookup: string): boolean {
    return this.#forgotten === 'all' || this.#forgotten.has(lookup);
  }
}

function byLookup(
  records: readonly AccessRecord[],
  lookupOf: AccessCacheOptions['lookupOf'],
): ReadonlyMap<string, readonly AccessRecord[]> {
  const found = new Map<string, AccessRecord[]>();
  for (const record of records) {
    const lookup = lookupOf(record);
    const others = found.get(lookup);
    if (others === undefined) found.set(lookup, [record]);
    else others.push(record);
  }
  return found;
}

const NONE: readonly AccessRecord[] = [];
const LARGEST_BATCH = 256;
const MOST_WAITING = 10_000;
