import { AuthError } from './errors.ts';
import type { Principal } from './principal.ts';
import { grants } from './scopes.ts';

export type Decision = { readonly allowed: true } | { readonly allowed: false; readonly error: AuthError<'forbidden'> };

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
export function authorize(principal: Pick<Principal, 'scopes'>, required: string | readonly string[]): Decision {
  const scopes = typeof required === 'string' ? [required] : required;
  if (scopes.length === 0) throw new TypeError('authorize: name at least one required scope.');
  const missing = scopes.find((scope) => !grants(principal.scopes, scope));
  if (missing === undefined) return ALLOWED;
  const message = `This operation needs the scope ${missing}, which the credential does not hold.`;
  return { allowed: false, error: new AuthError('forbidden', message, { scopeRequired: missing }, { scopes }) };
}

const ALLOWED: Decision = { allowed: true };
