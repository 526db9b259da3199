import type { CredentialQuota } from './quota-counter.ts';
import type { Subject } from './subject.ts';
import type { Tenancy } from './tenancy.ts';
import type { WorkloadIdentity } from './workload/identity.ts';

/**
 * An authenticated caller and its grants. It allows nothing by itself: `authorize` and the tenancy decide.
 *
 * @see Interface: Run owner (identity triple)
 */
export interface Principal {
  /** Opaque id of the principal, never personal data. */
  readonly id: string;
  /** The stated kind, never inferred. `user` and `agent` have the same rights. */
  readonly kind: 'user' | 'agent' | 'anonymous' | undefined;
  /** Names the credential and contains no part of it. Safe for logs and rate limits. */
  readonly credentialId: string;
  /** The lane that authenticated the caller, e.g. `api-key`. */
  readonly lane: string;
  /** The proved binding of the credential; `bearer` when it is bound to nothing. */
  readonly binding: Binding;
  /** The tenant, workspaces and mode that the caller may reach. */
  readonly tenancy: Tenancy;
  /** The scopes that the credential holds. */
  readonly scopes: readonly string[];
  /** The Subject record of the caller. */
  readonly subject: Subject;
  /** Milliseconds since the epoch. A stream to the caller must end at this time. Default: no end. */
  readonly expiresAt?: number | undefined;
  /** The most requests of the credential in a window, beside the limit of the host. Default: none of its own. */
  readonly rateLimit?:
    | {
        /** Requests per window. */
        readonly limit: number;
        /** Length of the window in seconds. */
        readonly windowSeconds: number;
      }
    | undefined;
  /**
   * The most requests of the credential in a calendar period, over all hosts. A guard counts them with its `quotas`.
   * Default: no quota.
   */
  readonly quota?: CredentialQuota | undefined;
  /**
   * The verified tokens that proved the caller, for `DenyList`: its own, then those of a delegation. Their subjects are
   * raw: never log them. Default: none, for an API key or a certificate.
   */
  readonly tokens?: readonly TokenFacts[] | undefined;
  /** The sign-in of the person, as the token tells it, for `stepUp`. Default: the credential tells of none. */
  readonly signIn?: SignIn | undefined;
  /** Set for a workload identity: the facts that are recorded with its decisions. */
  readonly workload?: WorkloadFacts | undefined;
}

/** The way and the time of a sign-in. @see OpenID Connect Core 1.0, section 2; RFC 9470, section 6 */
export interface SignIn {
  /** The authentication context class reference (`acr`). */
  readonly acr?: string | undefined;
  /** The methods of authentication (`amr`). */
  readonly amr?: readonly string[] | undefined;
  /** The time of the sign-in (`auth_time`) in milliseconds since the epoch. */
  readonly at?: number | undefined;
}

/** The claims of a verified token by which it can be withdrawn before it expires. @see DenyList */
export interface TokenFacts {
  /** The exact `iss`, or the trust domain of a SPIFFE identity. */
  readonly issuer: string;
  /** The exact `sub`. Default: the token has none. */
  readonly subject?: string | undefined;
  /** The id of the token. Default: the token has none. */
  readonly jti?: string | undefined;
  /** The id of its session. Default: the token has none. */
  readonly sid?: string | undefined;
  /** `iat` in milliseconds since the epoch. Default: the token has none. */
  readonly issuedAt?: number | undefined;
}

/** The binding of a credential to its sender: none, a key (DPoP), or a client certificate (mTLS). */
export type Binding = 'bearer' | 'dpop' | 'mtls';

/** Facts about an authenticated workload. @see Interface: Workload identity, Delegation rules, item 7 */
export interface WorkloadFacts {
  /** The caller on this connection. With a delegation it acts for `Principal.id`. */
  readonly actor: ActingParty;
  /** The delegator, from a verified proof only. Undefined without a delegation. */
  readonly onBehalfOf: ActingParty | undefined;
  /** Hops of the delegation; 0 without one. */
  readonly depth: number;
  /** The configured name of the kind of trust root; never a URL. */
  readonly issuerClass: string;
  /** `match`: the identity names this host; `absent`: a certificate, which has no audience. */
  readonly audience: 'match' | 'absent';
  /**
   * The interface's record of the verified identity. Its subjects are raw: store it in a run record, never in a log.
   */
  readonly identity: WorkloadIdentity;
}

/** A party of a delegation. */
export interface ActingParty {
  /** Opaque id of the principal. */
  readonly principalId: string;
  /** The stated kind; `workload` when none was stated. */
  readonly kind: 'user' | 'agent' | 'workload';
}
