import type { Transaction } from '../../ports/transaction.ts';
import type { Writer } from './writer.ts';

/** What was read before and has not changed since: this process is the only one that writes, so it learns of each change. */
export interface ReadCache<V> {
  /** @param read asks the database; what is being changed is asked for each time, because readers and the writer see it differently */
  of(key: string, read: () => V): V;
  /** From now to the end of the transaction this is being changed. Without a key: all of it. */
  changes(transaction: Transaction, key?: string): void;
}

/** @param most how many are kept */
export function readCache<V>(writer: Pick<Writer, 'whenEnded'>, most: number): ReadCache<V> {
  const kept = new Map<string, V>();
  const changing = new Set<string>();
  let changingAll = 0;

  return {
    of(key, read) {
      const before = kept.get(key);
      if (before !== undefined) return before;
      const found = read();
      if (found === undefined || changingAll > 0 || changing.has(key)) return found;
      if (kept.size >= most) kept.clear();
      kept.set(key, found);
      return found;
    },
    changes(transaction, key) {
      if (key === undefined) {
        kept.clear();
        changingAll += 1;
        writer.whenEnded(transaction, () => {
          changingAll -= 1;
        });
      } else {
        kept.delete(key);
        changing.add(key);
        writer.whenEnded(transaction, () => changing.delete(key));
      }
    },
  };
}
