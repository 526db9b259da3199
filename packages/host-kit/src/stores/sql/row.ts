/**
 * A row as a database driver returns it. The readers below check each value; they throw an `Error` for an unexpected
 * one.
 */
export type Row = Readonly<Record<string, unknown>>;

/** Reads a text column. */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw unexpected(column);
  return value;
}

/** Reads an integer column. The PostgreSQL driver returns 64-bit integers as strings. */
export function integer(row: Row, column: string): number {
  const value = row[column];
  const number = typeof value === 'string' && /^-?[0-9]{1,16}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number') throw unexpected(column);
  return number;
}

/** Reads a column of bytes as a plain `Uint8Array`. */
export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw unexpected(column);
  // The PostgreSQL driver returns a Buffer, which deep equality tells from a Uint8Array of the same bytes.
  return value.constructor === Uint8Array ? value : new Uint8Array(value);
}

/** Reads a nullable column with `read`. Returns undefined for null. */
export function optional<T>(row: Row, column: string, read: (row: Row, column: string) => T): T | undefined {
  return row[column] === null ? undefined : read(row, column);
}

function unexpected(column: string): Error {
  return new Error(
    `Column ${column}: the stored value has an unexpected type. A newer version of the kit may have written it.`,
  );
}
