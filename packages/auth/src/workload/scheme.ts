import type { Credential } from '../credential.ts';
import type { Jwt } from '../jwt/jwt.ts';
import type { TokenFacts } from '../principal.ts';
import type { RequestHead } from '../request-head.ts';
import type { WorkloadSchemeName } from './identity.ts';

/** A way in which workloads prove their identity. */
export interface WorkloadScheme {
  /** Name of the scheme. */
  readonly scheme: WorkloadSchemeName;
  /** Name of its trust roots in decision records; never a URL. */
  readonly issuerClass: string;
  /** Every issuer whose tokens it accepts. No two schemes of a host may share one. */
  readonly issuers: readonly string[];
  /** The roots of its trust, which discovery advertises: issuers, and trust domains such as `spiffe://acme.example`. */
  readonly trustRoots: readonly string[];
  /** Returns the asserted identity; undefined when the request has none of this scheme. */
  recognize(presented: Presented): Unverified | undefined;
}

/** The credentials of a request. */
export interface Presented {
  /** The request. */
  readonly request: RequestHead;
  /** The credential of the `Authorization` header, if any. */
  readonly credential: Credential | undefined;
  /** The parsed credential, when it is a token. */
  readonly jwt: Jwt | undefined;
}

/** An asserted identity, not yet verified against the trust root of its scheme. */
export interface Unverified {
  /** The certificate that asserts the identity. Undefined: a token asserts it. */
  readonly certificate?: {
    /** SHA-256 of the certificate in base64url. */
    readonly thumbprint: string;
    /** The names in the certificate, which renewed ones have too. Undefined: TLS did not verify it. */
    readonly name: string | undefined;
  };
  /**
   * Verifies the identity at `now`, in milliseconds since the epoch.
   *
   * @throws {TokenFault} when it is invalid or the trust root is unavailable
   */
  verify(now: number): Promise<VerifiedIdentity> | VerifiedIdentity;
}

/** A verified identity, not yet resolved to a principal. */
export interface VerifiedIdentity {
  /** The scheme that verified it. */
  readonly scheme: WorkloadSchemeName;
  /** The subject, in the form of the scheme. */
  readonly subject: string;
  /** The trust root. */
  readonly issuer: string;
  /** The audiences. Undefined for a certificate, which has none. */
  readonly audiences: readonly string[] | undefined;
  /** Expiry in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The facts by which a deny list knows the token. Undefined for a certificate. */
  readonly token?: TokenFacts | undefined;
  /** Set when the identity is the certificate of the connection: its SHA-256 in base64url. */
  readonly certificateThumbprint?: string | undefined;
  /**
   * Judges the status of the token in the status list of its issuer, after the audience. Default: it has none.
   *
   * @throws {TokenFault} when the issuer withdrew the token, or no list is to be had
   */
  readonly requireStatus?: (() => Promise<void>) | undefined;
}
