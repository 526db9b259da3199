import type { Credential } from '../credential.ts';
import type { Jwt } from '../jwt/jwt.ts';
import type { RequestHead } from '../request-head.ts';
import type { WorkloadSchemeName } from './identity.ts';

/** One way in which workloads prove what they are. */
export interface WorkloadScheme {
  readonly scheme: WorkloadSchemeName;
  /** What its trust roots are called in decisions; never a URL. */
  readonly issuerClass: string;
  /** Every issuer that it takes tokens of. No two schemes of a host may share one. */
  readonly issuers: readonly string[];
  /** Undefined when the request presents nothing of this scheme's. */
  recognize(presented: Presented): Unverified | undefined;
}

export interface Presented {
  readonly request: RequestHead;
  readonly credential: Credential | undefined;
  /** The credential taken apart, when it is a token. */
  readonly jwt: Jwt | undefined;
}

/** An identity that is asserted, and how to verify it against the trust root of its scheme. */
export interface Unverified {
  /** @throws {TokenFault} */
  verify(now: number): Promise<VerifiedIdentity> | VerifiedIdentity;
}

export interface VerifiedIdentity {
  readonly scheme: WorkloadSchemeName;
  readonly subject: string;
  readonly issuer: string;
  /** Undefined for a certificate, which is made for whoever it is shown to. */
  readonly audiences: readonly string[] | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Set when the identity is the connection's own certificate. */
  readonly certificateThumbprint?: string | undefined;
}
