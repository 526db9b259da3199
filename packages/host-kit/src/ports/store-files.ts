/** The files of a store that keeps its records on a disk of this machine. */
export interface StoreFiles {
  /**
   * Looks for damage. When `budgetMs` is over, the check goes on beside the host; damage that it then finds is reported
   * to the observers as `lost`.
   *
   * @throws {Error} when the files are damaged
   */
  check(budgetMs: number): Promise<'sound' | 'unfinished'>;
  /**
   * Observes the files until the returned function is called. An observer of a store that is lost already is called at
   * once.
   */
  watch(observer: StoreObserver): () => void;
  /** Returns the size of the log of writes that are not yet in the database itself, in bytes. */
  logBytes(): number;
}

/** Observes the files of a store. Its methods must not throw. */
export interface StoreObserver {
  /**
   * The store can write nothing more until the process is started again: its file was deleted, replaced or found
   * damaged, or the disk failed to flush a commit. Called once.
   */
  lost(cause: Error): void;
  /** The log has grown beyond 256 MiB. Called again only after it has shrunk to half of that. */
  logGrew(bytes: number): void;
}
