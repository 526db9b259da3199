import type { Transaction } from './transaction.ts';

/** The value of a secret as a run has opened it, encrypted. The secret itself may be replaced or removed meanwhile. */
export interface OpenedSecret {
  readonly runId: string;
  /** Its number among the opened values of the run, from 0. */
  readonly number: number;
  readonly name: string;
  /** The encrypted value, bound to its run and name. */
  readonly sealed: Uint8Array;
}

/** The values that runs have opened and that their records must not have. They are deleted when their run ends. */
export interface OpenedSecretStore {
  /** Adds a value. */
  add(opened: OpenedSecret, transaction: Transaction): Promise<void>;
  /** Returns the values of a run, by their numbers. Trusts its caller to have found the run through `runs`. */
  list(runId: string): Promise<readonly OpenedSecret[]>;
  /** Deletes the values of a run, in the transaction in which it ends. */
  remove(runId: string, transaction: Transaction): Promise<void>;
  /**
   * Returns up to `limit` values of all tenants, by run and number, after `after`. For the host's own tasks; never on behalf
   * of a caller.
   */
  page(page: {
    readonly after: Pick<OpenedSecret, 'runId' | 'number'> | undefined;
    readonly limit: number;
  }): Promise<readonly OpenedSecret[]>;
  /**
   * Replaces the ciphertext of a value by `sealed`, which encrypts the same value under another key. Nothing happens when
   * the value is gone.
   */
  reseal(opened: OpenedSecret, sealed: Uint8Array, transaction: Transaction): Promise<void>;
}

/** Returns the context that the encryption of an opened secret is bound to. */
export function sealedForRun({ runId, name }: Pick<OpenedSecret, 'runId' | 'name'>): string {
  return JSON.stringify(['opened secret', runId, name]);
}
