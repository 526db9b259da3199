/**
 * The ids of the keys that may have sealed records of a store. A host writes the id of its key before it seals with
 * that key, so that a later host can find a key that it lacks without reading every sealed record.
 */
export interface SealingKeyStore {
  /** Returns every id, in any order. */
  list(): Promise<readonly string[]>;
  /** Adds ids. Those that are there already stay. */
  add(keyIds: readonly string[]): Promise<void>;
  /** Removes ids. Others are ignored. */
  remove(keyIds: readonly string[]): Promise<void>;
}
