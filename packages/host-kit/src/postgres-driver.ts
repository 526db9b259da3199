import { createRequire } from 'node:module';
import type pg from 'pg';

/**
 * Imports the driver at its first use, because an import at load that fails would end the process before any sentence.
 *
 * @param caller the function that is named in the error
 * @throws {Error} when the package `pg` is not installed
 */
export async function importedDriver(caller: string): Promise<typeof pg> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    throw isMissing(cause) ? missing(caller, cause) : cause;
  }
}

/**
 * Returns the driver to a function that cannot wait for an import.
 *
 * @param caller the function that is named in the error
 * @throws {Error} when the package `pg` is not installed
 */
export function requiredDriver(caller: string): typeof pg {
  try {
    const driver: typeof pg = createRequire(import.meta.url)('pg');
    return driver;
  } catch (cause) {
    throw isMissing(cause) ? missing(caller, cause) : cause;
  }
}

/** A package that `pg` itself lacks has another name. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error)) return false;
  return (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND') && /'pg'/.test(error.message);
}

function missing(caller: string, cause: unknown): Error {
  return new Error(`${caller}: the package pg is not installed. Run npm i pg.`, { cause });
}
