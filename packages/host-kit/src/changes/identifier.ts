/**
 * Returns a name as SQL has it, in quotes: one name, with any characters.
 *
 * @throws {TypeError} for a name that is empty, longer than 63 bytes, or has NUL
 */
export function quoted(option: string, name: string): string {
  if (typeof name === 'string' && name !== '' && Buffer.byteLength(name) <= 63 && !name.includes('\0'))
    return `"${name.replaceAll('"', '""')}"`;
  throw new TypeError(`${option}: must be a name of 1 to 63 bytes without NUL. Correct it.`);
}

/** The columns by which a table is read, and those that a message has. */
export interface TableColumns {
  readonly cursor: string;
  readonly key: string | undefined;
  readonly columns: readonly string[];
}

/** @throws {TypeError} without columns, and for a column that is named twice */
export function requireColumns({ cursor, key, columns }: TableColumns): void {
  if (columns.length === 0 || columns.length > 100)
    throw new TypeError('columns: must name 1 to 100 columns. A message has these alone.');
  if (new Set(columns).size < columns.length)
    throw new TypeError('columns: names a column twice. Name each column once.');
  if (key === cursor) throw new TypeError('key: must be another column than the cursor. Leave it out.');
}

/** @throws {TypeError} for a number that is none */
export function requireSettleMs(settleMs: number): void {
  if (!(settleMs >= 0 && settleMs <= 86_400_000))
    throw new TypeError('settleMs: must be from 0 to 86400000. Leave it out for 1000.');
}
