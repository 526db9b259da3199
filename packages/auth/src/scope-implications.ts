import { isScope, SCOPES } from './scopes.ts';

/** Maps a scope of the host to the scopes that it implies directly. Implications are followed transitively. */
export type ImpliedScopes = ReadonlyMap<string, readonly string[]>;

/**
 * Makes the table of implied scopes. Without a table no scope implies another. Protocol scopes never do: `runs:cancel`
 * does not give `runs:read`.
 *
 * @throws {TypeError} for a name that is not a scope, has a wildcard, or is a protocol scope
 * @example
 * const implied = impliedScopes({ 'deploy:write': ['deploy:read'] });
 * authorize(principal, 'deploy:read', { implied });
 * @see Interface: API keys (machine callers), item 7
 */
export function impliedScopes(table: Readonly<Record<string, readonly string[]>>): ImpliedScopes {
  const implied = new Map<string, readonly string[]>();
  for (const [scope, others] of Object.entries(table)) {
    for (const name of [scope, ...others]) {
      if (!isScope(name)) throw new TypeError(`impliedScopes: ${name} must be a scope without wildcards.`);
      if (SCOPES.some((own) => own.toLowerCase() === name.toLowerCase())) {
        throw new TypeError(
          `impliedScopes: ${name} is a protocol scope, which cannot imply or be implied. Use your own scopes.`,
        );
      }
    }
    implied.set(scope, [...others]);
  }
  return implied;
}

/** Adds the implied scopes to a grant, transitively. */
export function withImplied(granted: readonly string[], implied: ImpliedScopes): readonly string[] {
  const all = new Set(granted);
  // Iteration over a set also visits elements that are added during it.
  for (const scope of all) for (const other of implied.get(scope) ?? []) all.add(other);
  return [...all];
}
