import { AuthError } from './errors.ts';
import type { Principal } from './principal.ts';
import { type ImpliedScopes, withImplied } from './scope-implications.ts';
import { grants } from './scopes.ts';

/** The decision on one operation: allowed, or the error to answer with. */
export type Decision =
  | {
      /** True when the caller may. */
      readonly allowed: true;
      /** The grant that covered the operation. Default `scope_granted`. */
      readonly by?: 'scope_granted' | 'role_granted';
    }
  | {
      /** False when the caller may not. */
      readonly allowed: false;
      /** The refusal, 403. */
      readonly error: AuthError<'forbidden'>;
    };

/** Rules by which scopes are compared. */
export interface ScopeRules {
  /** Scopes of the host that imply others, as `impliedScopes` makes them. Default: none. */
  readonly implied?: ImpliedScopes;
}

/**
 * Decides whether a caller holds every scope that an operation needs. A scope alone gives no access to a resource: the
 * resource must also be within the tenancy of the caller.
 *
 * @param required one scope, or several that are all needed
 * @throws {TypeError} when `required` is empty: an operation that is open to every caller does not call this function
 * @example
 * const decision = authorize(principal, 'runs:read');
 * if (!decision.allowed) throw decision.error;
 * @see Interface: API keys (machine callers), items 4 and 7
 */
export function authorize(
  principal: Pick<Principal, 'scopes'>,
  required: string | readonly string[],
  { implied }: ScopeRules = {},
): Decision {
  const scopes = typeof required === 'string' ? [required] : required;
  if (scopes.length === 0) throw new TypeError('authorize: required must name at least one scope.');
  const granted = implied === undefined ? principal.scopes : withImplied(principal.scopes, implied);
  const missing = scopes.find((scope) => !grants(granted, scope));
  return missing === undefined ? ALLOWED : { allowed: false, error: lacking(missing, scopes) };
}

const ALLOWED: Decision = { allowed: true };

/** Makes the refusal of a caller that lacks a scope. */
export function lacking(missing: string, required: readonly string[]): AuthError<'forbidden'> {
  const message = `This operation needs the scope ${missing}, which the credential does not hold.`;
  return new AuthError('forbidden', message, { scopeRequired: missing }, { scopes: required });
}
