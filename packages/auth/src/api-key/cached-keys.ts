import { type OptionNames, requireKnown } from '../known-options.ts';
import { type ApiKeyRecord, checkedApiKeyRecord, type KeyLookup, type KeyStore } from './key-store.ts';

/** Options of `cachedKeyStore`. */
export interface CachedKeyStoreOptions {
  /** Returns every record that may be of one of these hashes (at most 256), as they are stored when it is called. */
  readonly load: (hashes: readonly string[]) => Promise<readonly ApiKeyRecord[]>;
  /** Most records in memory, about 1 KiB each: a whole number, at least 2. Default 100 000. */
  readonly maxKeys?: number;
  /**
   * Returns whether every change is announced by `forget` before it counts as made. While it returns false, nothing is
   * answered from memory, and each lookup asks `load`. Default: always true, for a store of one process.
   */
  readonly isCurrent?: () => boolean;
  /** Most lookups that wait for `load`: a whole number, at least 1. Further ones reject. Default 10 000. */
  readonly maxWaiting?: number;
}

const CACHED_KEY_STORE_OPTIONS: OptionNames<CachedKeyStoreOptions> = {
  load: true,
  maxKeys: true,
  isCurrent: true,
  maxWaiting: true,
};

/** A cache of keys. Made by `cachedKeyStore`. */
export interface CachedKeyStore extends KeyStore {
  /**
   * Forgets the record of a hash, or all records. A lookup that begins afterwards sees the store as it is then: call it
   * after the change is stored, and before the change is answered.
   */
  forget(hash?: string): void;
  /** The number of records in memory. */
  size(): number;
}

/**
 * Makes a cache of keys in front of a store. A cached key is returned without a promise. Unknown keys are not cached, so
 * that a new key is accepted at once; lookups that arrive together share one call of `load`, so that a flood of unknown
 * keys costs one query at a time.
 *
 * A lookup never gets an answer that was read before it began, unless the answer is cached and has not been forgotten.
 *
 * @throws {TypeError} when `load` is not a function, or a number is out of its range
 * @example
 * const keys = cachedKeyStore({ load: (hashes) => database.keysOf(hashes) });
 * const lane = apiKeyLane({ keys });
 */
export function cachedKeyStore(options: CachedKeyStoreOptions): CachedKeyStore {
  requireKnown('cachedKeyStore', options, CACHED_KEY_STORE_OPTIONS);
  const { load, maxKeys = 100_000, maxWaiting = 10_000, isCurrent = () => true } = options;
  if (typeof load !== 'function') throw new TypeError('cachedKeyStore: load must be a function.');
  if (!Number.isSafeInteger(maxKeys) || maxKeys < 2) throw new TypeError('cachedKeyStore: maxKeys must be at least 2.');
  if (!Number.isSafeInteger(maxWaiting) || maxWaiting < 1)
    throw new TypeError('cachedKeyStore: maxWaiting must be at least 1.');
  return new BatchingCache({ load, maxKeys, maxWaiting, isCurrent });
}

interface Waiting {
  readonly hash: string;
  readonly resolve: (records: readonly ApiKeyRecord[]) => void;
  readonly reject: (cause: unknown) => void;
}

class BatchingCache implements CachedKeyStore {
  readonly #options: Required<CachedKeyStoreOptions>;
  /** Two generations: a record that is found in the old one moves to the young one, and the old one is dropped whole. */
  #young = new Map<string, readonly ApiKeyRecord[]>();
  #old = new Map<string, readonly ApiKeyRecord[]>();
  #waiting: Waiting[] = [];
  #isLoading = false;
  /** Hashes that were forgotten while a load is under way; `all` when everything was. */
  #forgotten: Set<string> | 'all' = new Set();

  constructor(options: Required<CachedKeyStoreOptions>) {
    this.#options = options;
  }

  candidates({ hash }: KeyLookup): readonly ApiKeyRecord[] | Promise<readonly ApiKeyRecord[]> {
    if (this.#options.isCurrent()) {
      const found = this.#cached(indexOf(hash));
      if (found !== undefined) return found;
    }
    if (this.#waiting.length >= this.#options.maxWaiting) {
      return Promise.reject(new Error('cachedKeyStore: too many lookups wait for the store.'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ hash, resolve, reject });
      if (!this.#isLoading) void this.#loadAll();
    });
  }

  forget(hash?: string): void {
    if (hash === undefined) {
      this.#young = new Map();
      this.#old = new Map();
      this.#forgotten = 'all';
      return;
    }
    const index = indexOf(hash);
    this.#young.delete(index);
    this.#old.delete(index);
    if (this.#forgotten !== 'all') this.#forgotten.add(index);
  }

  size(): number {
    return this.#young.size + this.#old.size;
  }

  #cached(index: string): readonly ApiKeyRecord[] | undefined {
    const young = this.#young.get(index);
    if (young !== undefined) return young;
    const old = this.#old.get(index);
    if (old === undefined) return undefined;
    this.#old.delete(index);
    this.#keep(index, old);
    return old;
  }

  #keep(index: string, records: readonly ApiKeyRecord[]): void {
    if (this.#young.size >= this.#options.maxKeys / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(index, records);
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
    const { load, isCurrent } = this.#options;
    try {
      const wasCurrent = isCurrent();
      const found = (await load([...new Set(batch.map(({ hash }) => hash))])).map(checkedOnce);
      for (const { hash, resolve } of batch) {
        const index = indexOf(hash);
        const records = found.filter((record) => indexOf(record.hash) === index);
        if (records.length > 0 && wasCurrent && isCurrent() && !this.#wasForgotten(index)) this.#keep(index, records);
        resolve(records);
      }
    } catch (cause) {
      for (const { reject } of batch) reject(cause);
    }
  }

  #wasForgotten(index: string): boolean {
    return this.#forgotten === 'all' || this.#forgotten.has(index);
  }
}

/** A checked record is not checked again at each use. The lane refuses the key of a malformed one. */
function checkedOnce(record: ApiKeyRecord): ApiKeyRecord {
  try {
    return checkedApiKeyRecord(record);
  } catch {
    return record;
  }
}

const LARGEST_BATCH = 256;

/** 64 bits: the lookup in the map is not constant-time, so it must not see the whole hash. */
function indexOf(hash: string): string {
  return hash.slice(0, 16);
}
