/** A row as a database driver gives it: values that these readers narrow or refuse. */
export type Row = Readonly<Record<string, unknown>>;

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw unexpected(column);
  return value;
}

/** A whole number; some drivers give one of 64 bits as text. */
export function integer(row: Row, column: string): number {
  const value = row[column];
  const number = typeof value === 'string' && /^-?[0-9]{1,16}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number') throw unexpected(column);
  return number;
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw unexpected(column);
  // A driver's own subclass would not be told apart, but for its prototype.
  return value.constructor === Uint8Array ? value : new Uint8Array(value);
}

/** Undefined where the column is null. */
export function optional<T>(row: Row, column: string, read: (row: Row, column: string) => T): T | undefined {
  return row[column] === null ? undefined : read(row, column);
}

function unexpected(column: string): Error {
  return new Error(`The database holds a value in ${column} that this version does not expect.`);
}
