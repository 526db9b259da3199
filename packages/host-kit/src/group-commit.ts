import type { Transaction } from './ports/transaction.ts';

export interface GroupCommitOptions<T, R> {
  /** That of the store. */
  readonly transaction: <V>(work: (transaction: Transaction) => Promise<V>) => Promise<V>;
  /**
   * Does all that was asked for, in its order, and tells of each what became of it, once that is durable. A rejection undoes all of it;
   * then it is called again for each by itself.
   */
  readonly work: (asked: readonly T[], transaction: Transaction) => Promise<readonly PromiseSettledResult<R>[]>;
  /** What was asked for under one key is done in that order, and never in two transactions at once. */
  readonly keyOf: (asked: T) => string;
  /** How many may share a transaction now. Default 128. */
  readonly largest?: () => number;
}

/**
 * Lets what is asked for at about the same time share a transaction: whatever comes while the store is busy joins the next. A commit costs
 * the same for one and for many, and so does a round trip.
 *
 * What the store does not take harms nobody else: those who shared the transaction are tried one by one. Only where the commit itself
 * failed nobody knows what became of it, and all of them hear so.
 */
export function groupCommit<T, R>(options: GroupCommitOptions<T, R>): (asked: T) => Promise<R> {
  const { transaction, work, keyOf, largest = () => LARGEST } = options;
  let waiting: Job<T, R>[] = [];
  /** Keys of what is tried by itself. */
  const apart = new Set<string>();
  let isBusy = false;

  return (asked) =>
    new Promise((resolve, reject) => {
      waiting.push({ asked, resolve, reject });
      next();
    });

  function next(): void {
    if (isBusy || !waiting.some(isFree)) return;
    isBusy = true;
    void together().finally(() => {
      isBusy = false;
      next();
    });
  }

  async function together(): Promise<void> {
    let jobs: readonly Job<T, R>[] | undefined;
    let outcomes: readonly PromiseSettledResult<R>[] | undefined;
    try {
      await transaction(async (opened) => {
        // Not before: whatever was asked for while it was waited for is taken along. A store may try a transaction again.
        jobs ??= take();
        outcomes = undefined;
        outcomes = await work(
          jobs.map(({ asked }) => asked),
          opened,
        );
      });
    } catch (error) {
      const isUndone = jobs !== undefined && outcomes === undefined;
      jobs ??= take();
      if (isUndone && jobs.length > 1) oneByOne(jobs);
      else for (const { reject } of jobs) reject(error);
      return;
    }
    for (const [index, job] of (jobs ?? []).entries()) tell(job, outcomes?.[index]);
  }

  function oneByOne(jobs: readonly Job<T, R>[]): void {
    for (const [key, ofKey] of byKey(jobs)) {
      apart.add(key);
      void inOrder(ofKey).finally(() => {
        apart.delete(key);
        next();
      });
    }
  }

  async function inOrder(jobs: readonly Job<T, R>[]): Promise<void> {
    for (const job of jobs) {
      try {
        const [outcome] = await transaction((opened) => work([job.asked], opened));
        tell(job, outcome);
      } catch (error) {
        job.reject(error);
      }
    }
  }

  function byKey(jobs: readonly Job<T, R>[]): ReadonlyMap<string, readonly Job<T, R>[]> {
    const groups = new Map<string, Job<T, R>[]>();
    for (const job of jobs) {
      const key = keyOf(job.asked);
      groups.set(key, [...(groups.get(key) ?? []), job]);
    }
    return groups;
  }

  function take(): readonly Job<T, R>[] {
    const most = Math.max(1, largest());
    if (apart.size === 0) return waiting.splice(0, most);
    const taken = waiting.filter(isFree).slice(0, most);
    waiting = waiting.filter((job) => !taken.includes(job));
    return taken;
  }

  function isFree({ asked }: Job<T, R>): boolean {
    return apart.size === 0 || !apart.has(keyOf(asked));
  }
}

const LARGEST = 128;

interface Job<T, R> {
  readonly asked: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

function tell<T, R>({ resolve, reject }: Job<T, R>, outcome: PromiseSettledResult<R> | undefined): void {
  if (outcome === undefined) reject(new Error('Nothing was said of what became of it.'));
  else if (outcome.status === 'fulfilled') resolve(outcome.value);
  else reject(outcome.reason);
}
