import type { JsonObject } from '../json.ts';
import type { Clock } from './clock.ts';

/** A row that was added, or whose cursor rose. */
export interface ChangedRow {
  /** The place behind the row: the values of its cursor and its key, in a form of the source. It identifies the change. */
  readonly cursor: string;
  /** The columns. Undefined: they have more than `maxBytes` bytes of JSON. */
  readonly row: JsonObject | undefined;
}

/** A reading of rows in the order of their places. */
export interface ReadChangesOptions {
  /** The place behind which the rows begin. Undefined: the first row. */
  readonly after: string | undefined;
  /** The place of the last row, from `settled`. */
  readonly upTo: string;
  /** The most rows. */
  readonly limit: number;
  /** The largest row in bytes of JSON. */
  readonly maxBytes: number;
}

/**
 * Reads the rows of one table by a cursor that rises. Hosts that share a store each have such a source of the same table; one of them
 * reads for a trigger at a time.
 *
 * @example
 * // A source of your own, in which rows appear in the order of their cursors.
 * const source: ChangeSource = {
 *   settled: async () => String(await table.newest()),
 *   async read({ after = '0', upTo, limit }) {
 *     const rows = await table.between(Number(after), Number(upTo), limit);
 *     return rows.map((row) => ({ cursor: String(row.seq), row }));
 *   },
 *   close: () => table.close(),
 * };
 */
export interface ChangeSource {
  /**
   * Returns the place up to which no row can appear any more; `[]` for a table without rows: a transaction that commits later has none with a lower cursor. Undefined
   * while that is not known; the host asks again.
   *
   * @throws {Error} when the table cannot be read, or its cursor is not unique
   */
  settled(options: {
    /** The source of time. */ readonly clock: Pick<Clock, 'monotonic'>;
  }): Promise<string | undefined>;
  /** Returns rows up to a place, in the order of their places. @throws {Error} when the table cannot be read */
  read(options: ReadChangesOptions): Promise<readonly ChangedRow[]>;
  /** Closes the connections. Called once, at the stop of the host. */
  close(): Promise<void>;
}

/** A tenant whose triggers may read a table. */
export interface ChangeGrant {
  readonly tenant: string;
  /** The mode of its triggers. Default `live`. */
  readonly mode?: 'live' | 'test';
}

/** A table that the operator of the host configures. Triggers know its name alone. */
export interface ChangeTable {
  /** The host closes it when it stops. */
  readonly source: ChangeSource;
  /** The tenants that may read it. A tenant without a grant is refused. */
  readonly grants: readonly ChangeGrant[];
  /** The pause after a look that found no more rows, in ms, at least 10. Default 1000. */
  readonly pollMs?: number;
}
