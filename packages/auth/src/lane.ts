import type { Credential } from './credential.ts';
import type { AuthError } from './errors.ts';
import type { Principal } from './principal.ts';
import type { RequestHead } from './request-head.ts';

export type AuthOutcome =
  | { readonly kind: 'authenticated'; readonly principal: Principal }
  | { readonly kind: 'refused'; readonly error: AuthError };

/**
 * One way to authenticate.
 *
 * @see Interface: Authentication
 */
export interface Lane {
  /** What `Principal.lane` and the Subject record say, e.g. `api-key`. */
  readonly name: string;
  /**
   * Judges a request, or answers undefined when it presents nothing of this lane's. A credential that is this lane's and does
   * not hold is a refusal: it is never offered to another lane.
   *
   * @param credential the one of the `Authorization` header, when there is one
   */
  authenticate(
    request: RequestHead,
    credential: Credential | undefined,
  ): Promise<AuthOutcome | undefined> | AuthOutcome | undefined;
}
