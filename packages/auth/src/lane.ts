import type { AuthError } from './errors.ts';
import type { Principal } from './principal.ts';
import type { RequestHead } from './request-head.ts';

export type AuthOutcome =
  | { readonly kind: 'authenticated'; readonly principal: Principal }
  | { readonly kind: 'refused'; readonly error: AuthError };

/** One way to authenticate. */
export interface Lane {
  readonly name: string;
  /**
   * Judges the credential of a request, or answers undefined when it is none of this lane's. A credential that is this lane's
   * and does not hold is a refusal; it is never offered to another lane.
   */
  authenticate(request: RequestHead): Promise<AuthOutcome | undefined> | AuthOutcome | undefined;
}
