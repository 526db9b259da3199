import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

/** The condition of the files of a store. */
export interface StoreWatch {
  /** Whether the store can write nothing more until the process is started again. */
  readonly isLost: () => boolean;
  /** Resolves with the cause when the store is lost. Never rejects. */
  readonly lost: Promise<Error>;
  /**
   * Observes the files from now on, and checks them for damage.
   *
   * @throws {Error} when they are damaged
   */
  begin(): Promise<void>;
  end(): void;
}

/** Watches the files of a store, and logs their faults. A store without files is never lost. */
export function storeWatch({ files }: Pick<Store, 'files'>, log: Log): StoreWatch {
  let cause: Error | undefined;
  let resolve = (_cause: Error): void => {};
  const lost = new Promise<Error>((resolved) => {
    resolve = resolved;
  });
  let stop = (): void => {};

  return {
    isLost: () => cause !== undefined,
    lost,
    async begin() {
      if (files === undefined) return;
      stop = files.watch({
        lost(error) {
          cause = error;
          log({ level: 'error', event: 'store.lost', error: error.message });
          resolve(error);
        },
        logGrew(bytes) {
          const message =
            'The log of the database is long, because a reader prevents its end: a shell, a backup or a check that runs on.';
          log({ level: 'warn', event: 'store.log-large', bytes, message });
        },
      });
      if ((await files.check(CHECK_BUDGET_MS)) === 'sound') return;
      const message = 'The check of the database for damage goes on beside the host, or could not be made.';
      log({ level: 'info', event: 'store.check-unfinished', budgetMs: CHECK_BUDGET_MS, message });
    },
    end: () => stop(),
  };
}

const CHECK_BUDGET_MS = 5000;
