/**
 * Key of the brand that tells a `Transaction` from other objects. A store sets it on the transactions that it opens.
 *
 * @example
 * const opened: Transaction = { [transactionMark]: true };
 */
export const transactionMark: unique symbol = Symbol('svc.transaction');

/**
 * An open transaction. `Store.transaction` hands it to its `work`, which passes it to every write that belongs
 * together. Only the store that opened it accepts it, and only until `work` settles; afterwards each write that gets it
 * rejects.
 */
export interface Transaction {
  readonly [transactionMark]: true;
}
