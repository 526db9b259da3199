import { localKeys } from '@svc/auth/bearer';
import { configuredFile } from './configured-file.ts';

/** Reads a file of public keys. @throws {Error} for a file that is no JSON Web Key Set */
export function keysIn(file: string, read: typeof localKeys = localKeys) {
  const text = configuredFile('jwksFile', file);
  try {
    return read(JSON.parse(text));
  } catch (cause) {
    const problem = cause instanceof SyntaxError ? 'is not JSON' : 'has no public key that verifies signatures';
    throw new Error(`jwksFile: ${file} ${problem}. Give the path of a JSON Web Key Set.`, { cause });
  }
}

/** Reads a file of certificates in PEM. */
export function certificatesIn(file: string): readonly string[] {
  const text = configuredFile('authoritiesFile', file);
  return text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
}
