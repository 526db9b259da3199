import type { Credential } from './credential.ts';
import type { AuthError } from './errors.ts';
import type { Principal } from './principal.ts';
import type { RequestHead } from './request-head.ts';

export type AuthOutcome =
  | {
      readonly kind: 'authenticated';
      readonly principal: Principal;
      /** To be set on the response, e.g. a fresh `DPoP-Nonce`. */
      readonly headers?: Readonly<Record<string, string>>;
    }
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
   * @param admission to be asked before the lane does anything that costs a signature or a request of its own
   */
  authenticate(
    request: RequestHead,
    credential: Credential | undefined,
    admission: Admission,
  ): Promise<AuthOutcome | undefined> | AuthOutcome | undefined;
}

/** Whether a client that has not authenticated yet may make the host work. */
export interface Admission {
  /** @throws {AuthError} `rate_limited` when too many of the client's requests were refused of late */
  require(): void | Promise<void>;
}
