/**
 * The schema of a database is newer than a host can use: a later version of the kit removed something that this version
 * needs. The message names both versions. A store rejects with it when it is opened.
 *
 * @example
 * const store = await postgresStore({ url }).catch((error: unknown) => {
 *   if (error instanceof SchemaVersionError) process.exitCode = 2;
 *   throw error;
 * });
 */
export class SchemaVersionError extends Error {
  override readonly name = 'SchemaVersionError';
}
