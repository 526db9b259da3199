import { AuthError } from './errors.ts';
import type { Principal } from './principal.ts';
import { grants } from './scopes.ts';

export type Decision = { readonly allowed: true } | { readonly allowed: false; readonly error: AuthError };

/** Whether a caller holds every required scope. @see Interface: API keys, 4 */
export function authorize(principal: Pick<Principal, 'scopes'>, required: readonly string[]): Decision {
  const missing = required.find((scope) => !grants(principal.scopes, scope));
  if (missing === undefined) return { allowed: true };
  const message = `This operation needs the scope ${missing}, which the credential does not hold.`;
  return { allowed: false, error: new AuthError('forbidden', message, { scopeRequired: missing }) };
}
