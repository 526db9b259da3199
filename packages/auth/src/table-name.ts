/**
 * Checks the name of a table, which becomes part of statements: lower case, with an optional schema.
 *
 * @throws {TypeError} when the name has other characters
 */
export function requireTable(of: string, table: string): string {
  if (/^[a-z_][a-z0-9_]{0,50}(?:\.[a-z_][a-z0-9_]{0,50})?$/.test(table)) return table;
  throw new TypeError(
    `${of}: table must be a plain lower-case name with at most one dot. Pass a name such as svc.dpop_proofs.`,
  );
}
