export const transactionMark: unique symbol = Symbol('svc.transaction');

/**
 * An open transaction, handed out by `Store.transaction` and passed to every write that belongs to it. It means nothing to
 * anyone but the store that opened it, and it is dead once the work it was opened for has ended.
 */
export interface Transaction {
  readonly [transactionMark]: true;
}
