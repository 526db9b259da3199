import { invalid } from '../errors.ts';
import type { MountCall } from '../http/route.ts';

/**
 * Requires each parameter of a query to be known: a filter whose name is misspelt would show records that the caller did not
 * ask for.
 *
 * @throws {HostError} `validation_error`
 */
export function requireNames(query: MountCall['query'], names: readonly string[]): void {
  const known = names.length === 0 ? 'It has none' : `Its parameters are ${names.join(', ')}`;
  for (const name of query.keys()) {
    const problem = `is not a parameter of this operation. ${known}`;
    if (!names.includes(name)) throw invalid({ field: `query.${name.slice(0, 64)}`, problem });
  }
}
