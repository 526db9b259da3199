import type { Store } from '../../ports/store.ts';

/** What each part of the contract is written with. */
export interface StoreContract {
  /** A test on a store with nothing in it, which is closed afterwards. */
  readonly onStore: (title: string, body: (store: Store) => Promise<void>) => void;
  readonly assert: StoreAssertions;
}

export interface StoreAssertions {
  deepEqual(actual: unknown, expected: unknown): void;
  rejects(promise: Promise<unknown>): Promise<void>;
}
