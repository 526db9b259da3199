import type { Store } from '../../ports/store.ts';

/** The means of each part of the contract. */
export interface StoreContract {
  /** Registers a test on an empty store, which is closed afterwards. */
  readonly onStore: (title: string, body: (store: Store) => Promise<void>) => void;
  readonly assert: StoreAssertions;
}

/** The assertions that the contract uses. */
export interface StoreAssertions {
  /** Throws unless the values are deeply and strictly equal. */
  deepEqual(actual: unknown, expected: unknown): void;
  /** Rejects unless `promise` rejects. */
  rejects(promise: Promise<unknown>): Promise<void>;
}
