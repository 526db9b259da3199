import type { AttemptRecord } from '../../ports/attempts.ts';

/** An attempt that is in the journal and not yet in the ring of its subscription. */
export interface JournalledAttempt {
  /** Rises by one with each attempt of the subscription. */
  readonly position: number;
  readonly record: AttemptRecord;
}

/** The columns of an attempt in the journal, in their order. */
type Columns = readonly [
  webhookId: string,
  position: number,
  deliveryId: string,
  runId: string,
  sequence: number,
  eventType: string,
  attempt: number,
  at: number,
  durationMs: number,
  outcome: AttemptRecord['outcome'],
  status: number | null,
  reason: string | null,
  phases: readonly (readonly [NonNullable<AttemptRecord['phases']>[number]['phase'], number])[] | null,
];

/** Returns the text of a row of the journal. */
export function encoded(attempts: readonly JournalledAttempt[]): string {
  return JSON.stringify(
    attempts.map(({ position, record }): Columns => {
      const { webhookId, deliveryId, runId, sequence, eventType, attempt, at, durationMs, outcome } = record;
      const phases = record.phases?.map(({ phase, durationMs: took }) => [phase, took] as const) ?? null;
      const which = [webhookId, position, deliveryId, runId, sequence, eventType] as const;
      return [
        ...which,
        attempt,
        at,
        rounded(durationMs),
        outcome,
        record.status ?? null,
        record.reason ?? null,
        phases,
      ];
    }),
  );
}

/** Returns the attempts of a row of the journal. */
export function decoded(row: string): readonly JournalledAttempt[] {
  const attempts: readonly Columns[] = JSON.parse(row);
  return attempts.map((columns) => {
    const [webhookId, position, deliveryId, runId, sequence, eventType, attempt, at, durationMs, outcome] = columns;
    const [status, reason, phases] = [columns[10] ?? undefined, columns[11] ?? undefined, columns[12]];
    const of = { deliveryId, webhookId, runId, sequence, eventType };
    const shown = phases && { phases: phases.map(([phase, took]) => ({ phase, durationMs: took })) };
    return { position, record: { ...of, attempt, at, durationMs, outcome, status, reason, ...shown } };
  });
}

/** A duration as the ring stores it, so that a reader sees the same before and after the move. */
export function rounded(durationMs: number): number {
  return Math.round(durationMs * 1000) / 1000;
}

/**
 * The attempts of the journal that are not yet in the rings, the newest `mostOfOne` of each subscription. Only committed
 * attempts may be announced here.
 */
export class JournalledAttempts {
  readonly #mostOfOne: number;
  /** In the order in which the subscriptions came. */
  readonly #waiting = new Map<string, { from: number; attempts: JournalledAttempt[] }>();
  /** The rows of the journal with the numbers of their attempts, in order. */
  readonly #rows: { readonly id: number; readonly count: number }[] = [];
  #inMemory = 0;
  #inRows = 0;

  constructor(mostOfOne: number) {
    this.#mostOfOne = mostOfOne;
  }

  /** The number of attempts that wait in memory. */
  get inMemory(): number {
    return this.#inMemory;
  }

  /** The number of attempts in the rows of the journal. */
  get inRows(): number {
    return this.#inRows;
  }

  /** Adds the attempts of a row. */
  add(id: number, attempts: readonly JournalledAttempt[]): void {
    this.#rows.push({ id, count: attempts.length });
    this.#inRows += attempts.length;
    for (const attempt of attempts) {
      const { webhookId } = attempt.record;
      const known = this.#waiting.get(webhookId);
      if (known === undefined) {
        this.#waiting.set(webhookId, { from: id, attempts: [attempt] });
        this.#inMemory += 1;
      } else {
        known.attempts.push(attempt);
        if (known.attempts.length > this.#mostOfOne) known.attempts.shift();
        else this.#inMemory += 1;
      }
    }
  }

  /** Returns the attempts of a subscription that wait, in their order. */
  of(webhookId: string): readonly JournalledAttempt[] {
    return this.#waiting.get(webhookId)?.attempts ?? [];
  }

  /** Returns the subscriptions with attempts that wait, the one that has waited longest about first. */
  webhookIds(): Iterable<string> {
    return this.#waiting.keys();
  }

  /** Removes the attempts of a subscription up to a position: they are in its ring. */
  moved(webhookId: string, upTo: number): void {
    const known = this.#waiting.get(webhookId);
    if (known === undefined) return;
    const staying = known.attempts.filter(({ position }) => position > upTo);
    this.#inMemory -= known.attempts.length - staying.length;
    this.#waiting.delete(webhookId);
    // `from` stays, although it may be too low: a row of the journal that is kept too long does no harm.
    if (staying.length > 0) this.#waiting.set(webhookId, { from: known.from, attempts: staying });
  }

  /** Removes the attempts of a subscription that was removed. */
  drop(webhookId: string): void {
    this.moved(webhookId, Number.POSITIVE_INFINITY);
  }

  /** Returns the first row that an attempt waits in; undefined when none waits. The rows before it are not needed. */
  firstNeeded(): number | undefined {
    let first: number | undefined;
    for (const { from } of this.#waiting.values()) if (from < (first ?? Number.POSITIVE_INFINITY)) first = from;
    return first;
  }

  /** Notes that the rows before `id` were deleted. */
  deletedBefore(id: number): void {
    let count = 0;
    for (const row of this.#rows) {
      if (row.id >= id) break;
      count += 1;
      this.#inRows -= row.count;
    }
    this.#rows.splice(0, count);
  }
}
