import { AuthError } from './errors.ts';
import type { Principal } from './principal.ts';
import { type ImpliedScopes, withImplied } from './scope-implications.ts';
import { grants } from './scopes.ts';

export type Decision =
  | {
      readonly allowed: true;
      /** What covered the action. Default `scope_granted`. */
      readonly by?: 'scope_granted' | 'role_granted';
    }
  | { readonly allowed: false; readonly error: AuthError<'forbidden'> };

export interface ScopeRules {
  /** Which of the host's own scopes imply others. Default: none. */
  readonly implied?: ImpliedScopes;
}

/**
 * Whether a caller holds every scope that an operation needs. Holding it is not enough for a resource: that must also be
 * within the caller's tenancy.
 *
 * @param required one scope or several, all of them needed
 * @throws {TypeError} when nothing is required: an operation for every caller has no need to ask
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

/** The refusal of a caller that lacks a scope. */
export function lacking(missing: string, required: readonly string[]): AuthError<'forbidden'> {
  const message = `This operation needs the scope ${missing}, which the credential does not hold.`;
  return new AuthError('forbidden', message, { scopeRequired: missing }, { scopes: required });
}
