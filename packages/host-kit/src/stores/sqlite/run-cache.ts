import { isTerminal, type Run } from '../../ports/runs.ts';
import type { Transaction } from '../../ports/transaction.ts';
import type { Writer } from './writer.ts';

/** A run as it was read, and the length of its document, by which the cache bounds its memory. */
export interface ReadRun {
  readonly run: Run;
  readonly length: number;
}

/**
 * Caches the committed runs that events are appended to. It stays valid because this process is the only writer, and
 * announces each of its changes. An ended run is not cached: nothing is appended to it.
 */
export class RunCache {
  readonly #writer: Pick<Writer, 'whenCommitted' | 'whenEnded'>;
  readonly #cached = new Map<string, ReadRun>();
  /** The runs that an open transaction changes, with the lengths of their documents if these are known. */
  readonly #changing = new Map<string, number | undefined>();
  #length = 0;

  constructor(writer: Pick<Writer, 'whenCommitted' | 'whenEnded'>) {
    this.#writer = writer;
  }

  /**
   * Returns the cached run, or else the result of `read`. While a transaction changes the run, it calls `read` each time:
   * that reads in the transaction.
   */
  of(runId: string, read: () => ReadRun | undefined): Run | undefined {
    const known = this.#cached.get(runId);
    if (known !== undefined) return known.run;
    const found = read();
    if (found === undefined) return undefined;
    if (this.#changing.has(runId)) this.#changing.set(runId, found.length);
    else this.#keep(found);
    return found.run;
  }

  /** Returns the cached run; undefined when it is not cached, or an open transaction changes it. */
  known(runId: string): Run | undefined {
    return this.#cached.get(runId)?.run;
  }

  /** Announces that a transaction has updated a run. */
  changed(run: Run, transaction: Transaction): void {
    const { runId } = run;
    const length = this.#cached.get(runId)?.length ?? this.#changing.get(runId);
    this.#forget(runId);
    this.#changing.set(runId, length);
    this.#writer.whenEnded(transaction, () => this.#changing.delete(runId));
    this.#writer.whenCommitted(transaction, () => {
      this.#forget(runId);
      if (length !== undefined) this.#keep({ run, length });
    });
  }

  /** Forgets every run: another process has written to the table. Call it at the begin of a transaction. */
  clear(): void {
    this.#cached.clear();
    this.#length = 0;
  }

  #keep(read: ReadRun): void {
    if (isTerminal(read.run.status) || read.length > LONGEST) return;
    if (this.#cached.size >= MOST || this.#length >= MOST_LENGTH) {
      this.clear();
    }
    this.#cached.set(read.run.runId, read);
    this.#length += read.length;
  }

  #forget(runId: string): void {
    this.#length -= this.#cached.get(runId)?.length ?? 0;
    this.#cached.delete(runId);
  }
}

/** Bounds the memory. */
const MOST = 10_000;
/** In UTF-16 code units. */
const MOST_LENGTH = 8 * 1024 * 1024;
const LONGEST = 256 * 1024;
