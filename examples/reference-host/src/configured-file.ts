import { readFileSync } from 'node:fs';

/**
 * Reads a file that the configuration names.
 *
 * @param key the key with the path, for the error
 * @throws {Error} when the file cannot be read
 */
export function configuredFile(key: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`${key}: ${path} cannot be read. Check the path and its permissions.`, { cause });
  }
}
