import type { Major, OperationId } from '@svc/versioning';
import type { Difference } from './differences.ts';

/**
 * The reasons for which a chosen read is not compared. `busy`: as many comparisons as are allowed are under way. `too-large`:
 * an answer is too long. `waits`: another read would wait for an event. `unmapped`: the other major cannot be asked the same.
 * `changed`: the answers changed while they were compared. `failed`: a read failed, as when the store does not answer.
 */
export const MIRROR_SKIPS = ['busy', 'too-large', 'waits', 'unmapped', 'changed', 'failed'] as const;

export type MirrorSkip = (typeof MIRROR_SKIPS)[number];

/** A read of one major, which was answered in the other one again. */
export interface MirroredOperation {
  readonly operation: OperationId;
  /** The major of the caller. */
  readonly major: Major;
}

/** A difference, and how often it was found. Times are in ms since the epoch. */
export interface ReportedDifference extends MirroredOperation, Difference {
  readonly reads: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Counts how the result of a mirrored read came out, for metrics. */
export interface MirrorObserver {
  readonly compared: (read: MirroredOperation) => void;
  readonly different: (read: MirroredOperation) => void;
  readonly skipped: (reason: MirrorSkip) => void;
}

/** The results of mirrored reads since the start of this process. It holds no value of an answer, and no name of a tenant. */
export class MirrorReport {
  readonly #observer: MirrorObserver;
  readonly #now: () => number;
  readonly #since: number;
  readonly #operations = new Map<string, MirroredOperation & { compared: number; different: number }>();
  readonly #skipped = new Map<MirrorSkip, number>();
  readonly #differences = new Map<string, ReportedDifference>();
  #unlisted = 0;

  constructor(observer: MirrorObserver, now: () => number) {
    this.#observer = observer;
    this.#now = now;
    this.#since = now();
  }

  /** Adds a read that was compared, with its differences. */
  add(read: MirroredOperation, differences: readonly Difference[]): void {
    const { operation, major } = read;
    this.#observer.compared(read);
    const key = `${major} ${operation}`;
    const counts = this.#operations.get(key) ?? { operation, major, compared: 0, different: 0 };
    this.#operations.set(key, counts);
    counts.compared += 1;
    if (differences.length === 0) return;
    this.#observer.different(read);
    counts.different += 1;
    for (const difference of differences) this.#list({ operation, major, ...difference });
  }

  skip(reason: MirrorSkip): void {
    this.#observer.skipped(reason);
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
  }

  /** Returns what was found so far. */
  read() {
    return {
      since: this.#since,
      operations: [...this.#operations.values()].map((each) => ({ ...each })),
      differences: [...this.#differences.values()],
      /** Differences beyond the bound of the report. */
      unlisted: this.#unlisted,
      skipped: [...this.#skipped].map(([reason, reads]) => ({ reason, reads })),
    };
  }

  #list(found: MirroredOperation & Difference): void {
    const { operation, major, pointer, kind } = found;
    const key = `${major} ${operation} ${pointer} ${kind}`;
    const known = this.#differences.get(key);
    const lastAt = this.#now();
    if (known !== undefined) this.#differences.set(key, { ...known, reads: known.reads + 1, lastAt });
    else if (this.#differences.size >= MOST_LISTED) this.#unlisted += 1;
    else this.#differences.set(key, { operation, major, pointer, kind, reads: 1, firstAt: lastAt, lastAt });
  }
}

/** Pointers have the names of the protocol alone, so an honest host has far fewer. */
export const MOST_LISTED = 200;
