import type { SQLOutputValue } from 'node:sqlite';

/** A row as SQLite gives it: values of five kinds, which these readers narrow or refuse. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw unexpected(column);
  return value;
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw unexpected(column);
  return value;
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw unexpected(column);
  return value;
}

/** Undefined where the column is null. */
export function optional<T>(row: Row, column: string, read: (row: Row, column: string) => T): T | undefined {
  return row[column] === null ? undefined : read(row, column);
}

function unexpected(column: string): Error {
  return new Error(`The database holds a value in ${column} that this version does not expect.`);
}
