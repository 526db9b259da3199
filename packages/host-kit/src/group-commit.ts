import type { Transaction } from './ports/transaction.ts';

export interface GroupCommitOptions<T, R> {
  /** Runs work in a transaction of the store, which may try it again. */
  readonly transaction: <V>(work: (transaction: Transaction) => Promise<V>) => Promise<V>;
  /**
   * Does the jobs in their order and returns the outcome of each. The outcomes are reported after the commit. A
   * rejection undoes the transaction; `work` is then called again for each job by itself.
   */
  readonly work: (asked: readonly T[], transaction: Transaction) => Promise<readonly PromiseSettledResult<R>[]>;
  /** Jobs of one key are done in their order, and never in two transactions at once. */
  readonly keyOf: (asked: T) => string;
  /** How many jobs may share the next transaction. Default: 128. */
  readonly largest?: () => number;
}

/**
 * Makes a function that does jobs in shared transactions: jobs that come while the store is busy join the next one. A
 * commit, and a round trip, costs the same for one job and for many.
 *
 * A job that the store refuses does no harm to others: the jobs of that transaction are done again one by one. When the
 * commit itself fails it is unknown whether the work was stored, so all jobs of the transaction are rejected.
 */
export function groupCommit<T, R>(options: GroupCommitOptions<T, R>): (asked: T) => Promise<R> {
  const commits = new GroupCommit(options);
  return (asked) => commits.ask(asked);
}

class GroupCommit<T, R> {
  readonly #options: GroupCommitOptions<T, R>;
  /** The jobs that no transaction has taken, in their order. */
  #waiting: Job<T, R>[] = [];
  /** Keys of the jobs that are done one by one; other jobs of these keys wait for them. */
  readonly #apart = new Set<string>();
  /** A shared transaction is under way. */
  #isBusy = false;

  constructor(options: GroupCommitOptions<T, R>) {
    this.#options = options;
  }

  ask(asked: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ asked, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#isBusy || !this.#waiting.some((job) => this.#isFree(job))) return;
    this.#isBusy = true;
    void this.#together().finally(() => {
      this.#isBusy = false;
      this.#next();
    });
  }

  async #together(): Promise<void> {
    const { transaction, work } = this.#options;
    let jobs: readonly Job<T, R>[] | undefined;
    let outcomes: readonly PromiseSettledResult<R>[] | undefined;
    try {
      await transaction(async (opened) => {
        // Taken only now, so that jobs that came while the transaction was waited for join it; and taken once, because
        // the store may try the transaction again.
        jobs ??= this.#take();
        outcomes = undefined;
        const asked = jobs.map((job) => job.asked);
        outcomes = await work(asked, opened);
      });
    } catch (error) {
      const isUndone = jobs !== undefined && outcomes === undefined;
      jobs ??= this.#take();
      if (isUndone && jobs.length > 1) this.#oneByOne(jobs);
      else for (const { reject } of jobs) reject(error);
      return;
    }
    for (const [index, job] of (jobs ?? []).entries()) settle(job, outcomes?.[index]);
  }

  #oneByOne(jobs: readonly Job<T, R>[]): void {
    for (const [key, ofKey] of this.#byKey(jobs)) {
      this.#apart.add(key);
      void this.#inOrder(ofKey).finally(() => {
        this.#apart.delete(key);
        this.#next();
      });
    }
  }

  async #inOrder(jobs: readonly Job<T, R>[]): Promise<void> {
    const { transaction, work } = this.#options;
    for (const job of jobs) {
      try {
        const [outcome] = await transaction((opened) => work([job.asked], opened));
        settle(job, outcome);
      } catch (error) {
        job.reject(error);
      }
    }
  }

  #byKey(jobs: readonly Job<T, R>[]): ReadonlyMap<string, readonly Job<T, R>[]> {
    const groups = new Map<string, Job<T, R>[]>();
    for (const job of jobs) {
      const key = this.#options.keyOf(job.asked);
      groups.set(key, [...(groups.get(key) ?? []), job]);
    }
    return groups;
  }

  #take(): readonly Job<T, R>[] {
    const most = Math.max(1, this.#options.largest?.() ?? LARGEST);
    if (this.#apart.size === 0) return this.#waiting.splice(0, most);
    const taken = this.#waiting.filter((job) => this.#isFree(job)).slice(0, most);
    this.#waiting = this.#waiting.filter((job) => !taken.includes(job));
    return taken;
  }

  #isFree({ asked }: Job<T, R>): boolean {
    return this.#apart.size === 0 || !this.#apart.has(this.#options.keyOf(asked));
  }
}

const LARGEST = 128;

interface Job<T, R> {
  readonly asked: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

function settle<T, R>({ resolve, reject }: Job<T, R>, outcome: PromiseSettledResult<R> | undefined): void {
  if (outcome === undefined) reject(new Error('groupCommit: work returned no outcome for a job. Return one for each.'));
  else if (outcome.status === 'fulfilled') resolve(outcome.value);
  else reject(outcome.reason);
}
