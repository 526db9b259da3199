import type { AcceptedCredentials } from './accepted-credentials.ts';
import type { ClaimedCaller } from './claimed-caller.ts';
import type { Credential } from './credential.ts';
import type { AuthError } from './errors.ts';
import type { Principal } from './principal.ts';
import type { RequestHead } from './request-head.ts';

/** The outcome of authentication: a principal, or the error to answer with. */
export type AuthOutcome =
  | {
      /** The credential is valid. */
      readonly kind: 'authenticated';
      /** The caller. */
      readonly principal: Principal;
      /** To be set on the response, e.g. a fresh `DPoP-Nonce`. */
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      /** The request is refused. */
      readonly kind: 'refused';
      /** The refusal. */
      readonly error: AuthError;
    };

/**
 * One way to authenticate.
 *
 * @see Interface: Authentication
 */
export interface Lane {
  /** The value of `Principal.lane`, e.g. `api-key`. */
  readonly name: string;
  /**
   * The accepted credentials, for the documents of a host, which anyone can read: they name the issuers. Default: the documents name
   * none of this lane.
   */
  readonly advertises?: readonly AcceptedCredentials[];
  /**
   * Judges a request. Returns undefined when the request has no credential of this lane. An invalid credential of this
   * lane is a refusal: no other lane is asked.
   *
   * @param credential the credential of the `Authorization` header, if any
   * @param admission to be awaited before the lane verifies a signature or sends a request
   */
  authenticate(
    request: RequestHead,
    credential: Credential | undefined,
    admission: Admission,
  ): Promise<AuthOutcome | undefined> | AuthOutcome | undefined;
  /**
   * Returns the scopes that its configuration gives to callers, so that a host can look for misspelt ones when it
   * starts. Absent: the configuration gives none.
   */
  grantedScopes?(): readonly string[];
}

/** Decides whether the host does costly work for a client that has not authenticated yet. */
export interface Admission {
  /**
   * Returns when the work is admitted.
   *
   * @param claimed the caller that the credential names. Default: a caller that is not known
   * @throws {AuthError} `rate_limited` when too many recent requests of the client were refused
   */
  require(claimed?: ClaimedCaller): void | Promise<void>;
  /**
   * To be awaited before the lane uses up a proof that is valid once. A refusal leaves the proof unused. Default: every
   * caller is admitted.
   *
   * @throws {AuthError} e.g. `rate_limited`
   */
  beforeUse?(caller: VerifiedCaller): void | Promise<void>;
}

/** A caller whose credential is valid. */
export interface VerifiedCaller {
  /** The caller. */
  readonly principal: Principal;
  /** To be set on the response. */
  readonly headers: Readonly<Record<string, string>>;
}
