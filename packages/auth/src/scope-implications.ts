import { isScope, SCOPES } from './scopes.ts';

/** Which scopes one scope brings with it: names of the host's own, all of them spelled out. */
export type ImpliedScopes = ReadonlyMap<string, readonly string[]>;

/**
 * Makes the table by which a verb implies another. Without one no scope implies any other, and none of the protocol's ever does:
 * `runs:cancel` does not give `runs:read`.
 *
 * @throws {TypeError} for what is no scope, or is one of the protocol's
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

/** A grant with what it implies, and what that implies. */
export function withImplied(granted: readonly string[], implied: ImpliedScopes): readonly string[] {
  const all = new Set(granted);
  // A set hands out what is added to it while it is walked.
  for (const scope of all) for (const other of implied.get(scope) ?? []) all.add(other);
  return [...all];
}
