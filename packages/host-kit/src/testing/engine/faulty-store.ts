import type { RunEvent } from '../../ports/events.ts';
import type { Store } from '../../ports/store.ts';
import type { Transaction } from '../../ports/transaction.ts';

/** A fault at a transaction that records events. */
export interface Fault {
  /** The number of such transactions before it, from now on. */
  readonly after: number;
  /** `rejected` undoes the transaction and rejects, `answer-lost` commits it and rejects. */
  readonly kind: 'rejected' | 'answer-lost';
}

/** A store as one process sees it: it has faults, and answers nothing more after a kill. Its contents stay. */
export class FaultyStore {
  readonly store: Store;
  /** The number of transactions that recorded events. */
  #appends = 0;
  readonly #inner: Store;
  readonly #recorders = new WeakSet<Transaction>();
  readonly #fenced = new Set<string>();
  #fault: (Fault & { readonly at: number }) | undefined;
  #hasFailed = false;
  #isKilled = false;

  constructor(inner: Store) {
    this.#inner = inner;
    this.store = {
      ...inner,
      transaction: (work) => this.#transaction(work),
      events: { ...inner.events, insert: (events, transaction) => this.#insert(events, transaction) },
      runs: {
        ...inner.runs,
        forAppend: async (runIds, transaction) =>
          (await inner.runs.forAppend(runIds, transaction)).map((run) =>
            this.#fenced.has(run.runId) ? { ...run, epoch: (run.epoch ?? 0) + 1 } : run,
          ),
      },
    };
  }

  /** Plans a fault. It replaces an earlier one. */
  plan(fault: Fault): void {
    this.#hasFailed = false;
    this.#fault = { ...fault, at: this.#appends + fault.after };
  }

  /** Whether the planned fault has happened. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Ends the process: nothing is answered from now on. */
  kill(): void {
    this.#isKilled = true;
  }

  /** From now on the run is in a later epoch than this process drives, as after another host took it over. */
  fence(runId: string): void {
    this.#fenced.add(runId);
  }

  async #insert(events: readonly RunEvent[], transaction: Transaction): Promise<void> {
    await this.#inner.events.insert(events, transaction);
    this.#recorders.add(transaction);
  }

  async #transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    if (this.#isKilled) return never();
    let kind: Fault['kind'] | undefined;
    try {
      const result = await this.#inner.transaction(async (transaction) => {
        const done = await work(transaction);
        kind = this.#recorders.has(transaction) ? this.#next() : undefined;
        if (kind === 'rejected') throw new Error('simulated: the store is away');
        return done;
      });
      if (this.#isKilled) return await never();
      if (kind === 'answer-lost') throw new Error('simulated: the answer of the store is lost');
      return result;
    } finally {
      if (kind !== undefined) this.#hasFailed = true;
    }
  }

  #next(): Fault['kind'] | undefined {
    const at = this.#appends++;
    return at === this.#fault?.at ? this.#fault.kind : undefined;
  }
}

function never<T>(): Promise<T> {
  return new Promise(() => {});
}
