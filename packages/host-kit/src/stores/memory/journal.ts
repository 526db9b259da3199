import { type Transaction, transactionMark } from '../../ports/transaction.ts';

/** Transactions over maps and arrays. They run one at a time, and each records how to undo its changes. */
export interface Journal {
  /** @see Store.transaction */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * Records how to undo a change that `transaction` has just made.
   *
   * @throws {Error} when `transaction` is not the open one
   */
  record(transaction: Transaction, undo: () => void): void;
  /** Whether the transaction has neither been committed nor undone. */
  isOpen(transaction: Transaction): boolean;
}

export function journal(): Journal {
  let last: Promise<unknown> = Promise.resolve();
  let open: { readonly transaction: Transaction; readonly undo: (() => void)[] } | undefined;

  return {
    transaction(work) {
      const result = last.then(() => perform(work));
      last = result.catch(() => {});
      return result;
    },
    record(transaction, undo) {
      if (open?.transaction !== transaction)
        throw new Error('transaction: has ended, or belongs to another store. Use it only within its work.');
      open.undo.push(undo);
    },
    isOpen: (transaction) => open?.transaction === transaction,
  };

  async function perform<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const transaction: Transaction = { [transactionMark]: true };
    const undo: (() => void)[] = [];
    open = { transaction, undo };
    try {
      return await work(transaction);
    } catch (error) {
      for (const takeBack of undo.reverse()) takeBack();
      throw error;
    } finally {
      open = undefined;
    }
  }
}

/** Sets or (with undefined) deletes a map entry within a transaction. A rollback restores the former entry. */
export function put<K, V>(
  journal: Journal,
  transaction: Transaction,
  map: Map<K, V>,
  key: K,
  value: V | undefined,
): void {
  const before = map.get(key);
  journal.record(transaction, () => set(map, key, before));
  set(map, key, value);
}

function set<K, V>(map: Map<K, V>, key: K, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
