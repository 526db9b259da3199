import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';
import type { Json, JsonObject } from '../../json.ts';
import type { ChangedRow, ChangeSource } from '../../ports/changes.ts';
import { quoted, requireColumns, requireSettleMs, type TableColumns } from '../identifier.ts';
import { SettledPlace } from '../settled-place.ts';

export type { ChangedRow, ChangeSource, ReadChangesOptions } from '../../ports/changes.ts';

/** Options of `sqliteChanges`. */
export interface SqliteChangesOptions {
  /** The path of the database. It is opened for reading alone. */
  readonly file: string;
  /** The table or view. */
  readonly table: string;
  /** The column whose value rises with each row that is to be read: an integer or a text. Never NULL. */
  readonly cursor: string;
  /** A column that tells rows with one cursor apart, such as the primary key. Default: none, and the cursor is unique. */
  readonly key?: string;
  /** The columns that a message has. */
  readonly columns: readonly string[];
  /**
   * The longest time between the moment at which a writer takes a cursor and its commit, in ms. Default 1000. 0 is enough where the
   * database gives the cursor, as for `INTEGER PRIMARY KEY AUTOINCREMENT`: it writes one transaction after the other.
   */
  readonly settleMs?: number;
}

/**
 * Reads the rows of a table of SQLite by a cursor column. Integers beyond 2^53 are texts in a message, and blobs are texts in base64.
 *
 * @throws {TypeError} for names that are none, and numbers out of range
 *
 * @example
 * const source = sqliteChanges({ file: '/srv/shop/shop.db', table: 'orders', cursor: 'id', columns: ['id', 'total'] });
 * createHost({ ...options, triggers: { changes: { orders: { source, grants: [{ tenant: 'acme' }] } } } });
 */
export function sqliteChanges(options: SqliteChangesOptions): ChangeSource {
  const { file, table, cursor, key, columns, settleMs = 1000 } = options;
  requireColumns({ cursor, key, columns });
  requireSettleMs(settleMs);
  const place = [cursor, ...(key === undefined ? [] : [key])];
  const names = place.map((name) => quoted('cursor', name));
  const listed = columns.map((name) => quoted('columns', name));
  const from = quoted('table', table);
  const horizon = new SettledPlace<string>(settleMs, (one, other) => one === other);
  let opened: DatabaseSync | undefined;

  return {
    async settled({ clock }) {
      const present = names.map((name) => `${name} IS NOT NULL`).join(' AND ');
      const descending = names.map((name) => `${name} DESC`).join(', ');
      const [top] = found(`SELECT ${names.join(', ')} FROM ${from} WHERE ${present} ORDER BY ${descending} LIMIT 1`);
      const seen = { now: clock.monotonic(), oldestOpen: 0n, next: 0n };
      return horizon.observe({ top: top === undefined ? '[]' : placeText(top), ...seen });
    },
    async read({ after, upTo, limit, maxBytes }) {
      const upper = valuesOf(upTo, place.length);
      if (upper.length === 0) return [];
      const lower = after === undefined ? [] : valuesOf(after, place.length);
      const row = `(${names.join(', ')})`;
      const values = `(${names.map(() => '?').join(', ')})`;
      const behind = lower.length === 0 ? '' : `AND ${row} > ${values}`;
      const rows = found(
        `SELECT ${[...names, ...listed].join(', ')} FROM ${from} WHERE ${row} <= ${values} ${behind} ORDER BY ${names.join(', ')} LIMIT ?`,
        ...[...upper, ...lower, limit],
      );
      return rows.map((values) => changedRow(values, { cursor, key, columns }, maxBytes));
    },
    async close() {
      opened?.close();
      opened = undefined;
    },
  };

  function found(sql: string, ...values: readonly SQLInputValue[]): readonly (readonly SQLOutputValue[])[] {
    opened ??= checkedDatabase(file, table, place, columns);
    const statement = opened.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement.all(...values).map((row) => Object.values(row));
  }
}

function placeText(values: readonly SQLOutputValue[]): string {
  return JSON.stringify(values.map(spelled));
}

/** The type is a part of a value: SQLite sorts all integers before all texts. @throws {Error} for other types */
function spelled(value: SQLOutputValue): string {
  if (typeof value === 'bigint') return `i${value}`;
  if (typeof value === 'string') return `t${value}`;
  throw new Error('The columns cursor and key must have integers or texts, and no NULL. Choose other columns.');
}

function valuesOf(cursor: string, width: number): readonly SQLInputValue[] {
  const values: unknown = JSON.parse(cursor);
  if (!Array.isArray(values) || (values.length !== width && values.length !== 0))
    throw new Error(
      'The stored cursor does not fit the columns cursor and key. Delete the trigger, and register it again.',
    );
  return values.map((value) =>
    String(value).startsWith('i') ? BigInt(String(value).slice(1)) : String(value).slice(1),
  );
}

function changedRow(values: readonly SQLOutputValue[], { key, columns }: TableColumns, maxBytes: number): ChangedRow {
  const width = key === undefined ? 1 : 2;
  const row: JsonObject = Object.fromEntries(columns.map((name, index) => [name, jsonOf(values[width + index])]));
  const isLarge = Buffer.byteLength(JSON.stringify(row)) > maxBytes;
  return { cursor: placeText(values.slice(0, width)), row: isLarge ? undefined : row };
}

function jsonOf(value: SQLOutputValue | undefined): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'string' ? value : Buffer.from(value).toString('base64');
}

/** A short wait for a writer: the event loop stands still meanwhile. The host looks again later. */
const BUSY_MS = 250;

/** @throws {Error} for a table or a column that does not exist, and a place that is not unique */
function checkedDatabase(
  file: string,
  table: string,
  place: readonly string[],
  columns: readonly string[],
): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS });
  try {
    const known = database.prepare('SELECT name, pk FROM pragma_table_info(?)').all(table);
    for (const name of [...place, ...columns]) {
      if (!known.some((column) => column.name === name))
        throw new Error(`The table ${table} has no column ${name}. Correct its name.`);
    }
    const keys = known.filter(({ pk }) => Number(pk) > 0).map(({ name }) => name);
    const indexes = database
      .prepare('SELECT name FROM pragma_index_list(?) WHERE "unique" = 1 AND partial = 0')
      .all(table);
    const unique = indexes.map(({ name }) => database.prepare('SELECT name FROM pragma_index_info(?)').all(name ?? ''));
    const sets = [...(keys.length > 0 ? [keys] : []), ...unique.map((rows) => rows.map((column) => column.name))];
    if (!sets.some((set) => set.every((name) => place.some((own) => own === name))))
      throw new Error(
        `The table ${table} has no unique index on ${place.join(', ')}. Add one, or name the primary key as key.`,
      );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
