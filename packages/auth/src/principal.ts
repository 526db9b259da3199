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
  /** Set for a workload identity: the facts that are recorded with its decisions. */
  readonly workload?: WorkloadFacts | undefined;
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
