import { type UnreadableKind, UnreadableRecord, type UnreadableRecords } from '../../ports/unreadable-record.ts';
import { type Row, text } from './row.ts';

/** Reads the rows of one kind of record. */
export interface RecordReader<T> {
  readonly kind: UnreadableKind;
  /** The column of the id. */
  readonly id: string;
  /** @throws {Error} for a row that it cannot read */
  readonly read: (row: Row) => T;
}

/**
 * Reads a row.
 *
 * @throws {UnreadableRecord} when it cannot be read
 */
export function readRecord<T>({ kind, id, read }: RecordReader<T>, row: Row): T {
  try {
    return read(row);
  } catch (error) {
    // The message of a SyntaxError quotes the text.
    const problem = error instanceof SyntaxError ? 'its JSON cannot be parsed' : 'it has an unexpected form';
    throw new UnreadableRecord(kind, text(row, id), problem);
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
      return read();
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      this.report(error);
      return undefined;
    }
  }

  /** Reads rows, without those that cannot be read. */
  rows<T>(reader: RecordReader<T>, rows: readonly Row[]): T[] {
    return rows.flatMap((row) => this.over(() => [readRecord(reader, row)]) ?? []);
  }

  /**
   * Reads a page. It is full although records are passed over, because a short page is the last one to its reader.
   *
   * @param fetch returns up to `limit` rows after an id, by ascending id
   */
  async page<T>(
    reader: RecordReader<T>,
    { after, limit }: { readonly after: string; readonly limit: number },
    fetch: (after: string, limit: number) => Promise<readonly Row[]> | readonly Row[],
  ): Promise<T[]> {
    const found: T[] = [];
    for (let next = after; ; ) {
      const wanted = limit - found.length;
      const rows = await fetch(next, wanted);
      found.push(...this.rows(reader, rows));
      const last = rows.at(-1);
      if (last === undefined || rows.length < wanted || found.length >= limit) return found;
      next = text(last, reader.id);
    }
  }
}

/** Bounds the memory. Further records are passed over without a report. */
const MOST_FOUND = 10_000;
