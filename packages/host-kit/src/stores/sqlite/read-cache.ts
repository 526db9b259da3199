import type { Transaction } from '../../ports/transaction.ts';
import type { Writer } from './writer.ts';

/**
 * Caches records of the database. It stays valid because this process is the only writer, and announces each of its
 * changes.
 */
export interface ReadCache<V> {
  /**
   * Returns the cached value of a key, or else the result of `read`, which it caches. While a transaction changes the
   * key, it calls `read` each time and caches nothing: the writer already sees the change, and readers do not.
   */
  of(key: string, read: () => V): V;
  /** Announces that `transaction` changes a key from now until its end. Without `key`: every key. */
  changes(transaction: Transaction, key?: string): void;
}

/** @param maxSize maximum number of entries; when it is reached, the cache is emptied */
export function readCache<V>(writer: Pick<Writer, 'whenEnded'>, maxSize: number): ReadCache<V> {
  const cached = new Map<string, V>();
  /** Keys that an open transaction changes. */
  const changing = new Set<string>();
  /** Number of open transactions that change every key. */
  let changingAll = 0;

  return {
    of(key, read) {
      const known = cached.get(key);
      if (known !== undefined) return known;
      const found = read();
      if (found === undefined || changingAll > 0 || changing.has(key)) return found;
      if (cached.size >= maxSize) cached.clear();
      cached.set(key, found);
      return found;
    },
    changes(transaction, key) {
      if (key === undefined) {
        cached.clear();
        changingAll += 1;
        writer.whenEnded(transaction, () => {
          changingAll -= 1;
        });
      } else {
        cached.delete(key);
        changing.add(key);
        writer.whenEnded(transaction, () => changing.delete(key));
      }
    },
  };
}
