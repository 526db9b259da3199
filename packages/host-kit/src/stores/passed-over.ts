import { type UnreadableKind, UnreadableRecord, type UnreadableRecords } from '../ports/unreadable-record.ts';

/** Reads the stored records of one kind. */
export interface RecordReader<Stored, T> {
  readonly kind: UnreadableKind;
  readonly idOf: (stored: Stored) => string;
  /** @throws {Error} for a record that it cannot read */
  readonly read: (stored: Stored) => T;
}

/**
 * Reads a stored record.
 *
 * @throws {UnreadableRecord} when it cannot be read
 */
export function readRecord<Stored, T>({ kind, idOf, read }: RecordReader<Stored, T>, stored: Stored): T {
  try {
    return read(stored);
  } catch (error) {
    if (error instanceof UnreadableRecord) throw error;
    // The message of a SyntaxError quotes the text.
    const problem = error instanceof SyntaxError ? 'its JSON cannot be parsed' : 'it has an unexpected form';
    throw new UnreadableRecord(kind, idOf(stored), problem);
  }
}

/** The records of a store that it passed over, each reported once. */
export class PassedOver implements UnreadableRecords {
  readonly #found = new Map<string, UnreadableRecord>();
  #listener: ((record: UnreadableRecord) => void) | undefined;

  follow(listener: (record: UnreadableRecord) => void): void {
    this.#listener = listener;
    for (const record of this.#found.values()) listener(record);
  }

  /** Returns the number of records of a kind that were reported. */
  count(kind: UnreadableKind): number {
    return [...this.#found.values()].filter((record) => record.kind === kind).length;
  }

  /** Reports a record. */
  report(record: UnreadableRecord): void {
    const name = `${record.kind} ${record.id}`;
    if (this.#found.has(name) || this.#found.size >= MOST_FOUND) return;
    this.#found.set(name, record);
    this.#listener?.(record);
  }

  /** Returns the result of `read`, or undefined, with a report, when it meets a record that cannot be read. */
  over<T>(read: () => T): T | undefined {
    try {
      return this.reported(read);
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      return undefined;
    }
  }

  /**
   * Returns the result of `read`.
   *
   * @throws {UnreadableRecord} with a report, when it meets a record that cannot be read
   */
  reported<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof UnreadableRecord) this.report(error);
      throw error;
    }
  }

  /** Reads stored records, without those that cannot be read. */
  all<Stored, T>(reader: RecordReader<Stored, T>, stored: readonly Stored[]): T[] {
    const found: T[] = [];
    for (const record of stored) this.over(() => found.push(readRecord(reader, record)));
    return found;
  }

  /**
   * Reads a page. It is full although records are passed over, because a short page is the last one to its reader.
   *
   * @param fetch returns up to `limit` stored records after an id, in the order of their ids
   */
  async page<Stored, T, Id extends string | undefined>(
    reader: RecordReader<Stored, T>,
    { after, limit }: { readonly after: Id; readonly limit: number },
    fetch: (after: Id | string, limit: number) => Promise<readonly Stored[]> | readonly Stored[],
  ): Promise<T[]> {
    const found: T[] = [];
    for (let next: Id | string = after; ; ) {
      const wanted = limit - found.length;
      const stored = await fetch(next, wanted);
      found.push(...this.all(reader, stored));
      const last = stored.at(-1);
      if (last === undefined || stored.length < wanted || found.length >= limit) return found;
      next = reader.idOf(last);
    }
  }
}

/** Bounds the memory. Further records are passed over without a report. */
const MOST_FOUND = 10_000;
