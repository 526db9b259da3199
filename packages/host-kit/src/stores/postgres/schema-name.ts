/**
 * Returns the name of a schema.
 *
 * @throws {TypeError} when it is not one that can stand in a statement
 */
export function schemaName(caller: string, schema: string): string {
  if (/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) return schema;
  throw new TypeError(
    `${caller}: schema must have up to 51 lower-case letters, digits and underscores. Pass a name such as svc.`,
  );
}
