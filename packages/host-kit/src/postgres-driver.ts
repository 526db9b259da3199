import type pg from 'pg';

/**
 * Loads the driver. Loaded at its first use, because an import that fails would end the process before any sentence.
 *
 * @throws {Error} when the package `pg` is not installed
 */
export async function postgresDriver(): Promise<typeof pg> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    throw new Error('postgresStore: the package pg is not installed. Run npm i pg.', { cause });
  }
}

/** A package that `pg` itself lacks has another name. */
function isMissing(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND' && /'pg'/.test(error.message)
  );
}
