import type { Subject } from './subject.ts';
import type { Tenancy } from './tenancy.ts';
import type { WorkloadIdentity } from './workload/identity.ts';

/**
 * An authenticated caller: who calls and what they hold. It allows nothing by itself; `authorize` and the tenancy decide.
 *
 * @see Interface: Run owner (identity triple)
 */
export interface Principal {
  /** Opaque, never personal data. */
  readonly id: string;
  /** As someone stated it; never inferred. `user` and `agent` change nothing about what a caller may do. */
  readonly kind: 'user' | 'agent' | 'anonymous' | undefined;
  /** Which credential was used, and no part of it: fit for logs and rate limits. */
  readonly credentialId: string;
  /** How the caller authenticated, e.g. `api-key`. */
  readonly lane: string;
  /** What the credential was proved to be bound to; `bearer` is whoever holds it. */
  readonly binding: Binding;
  readonly tenancy: Tenancy;
  readonly scopes: readonly string[];
  readonly subject: Subject;
  /** Milliseconds since the epoch. What is served for longer than this is served to nobody. */
  readonly expiresAt?: number | undefined;
  /** Of a workload identity: what its decisions are recorded with. */
  readonly workload?: WorkloadFacts | undefined;
}

export type Binding = 'bearer' | 'dpop' | 'mtls';

/** @see Interface: Workload identity, Delegation rules, item 7 */
export interface WorkloadFacts {
  /** The caller on this connection; with a delegation it acts for `Principal.id`. */
  readonly actor: ActingParty;
  /** Whom it acts for, from a verified proof alone. */
  readonly onBehalfOf: ActingParty | undefined;
  /** Hops of the delegation; 0 without one. */
  readonly depth: number;
  /** What kind of trust root vouches, as its configuration calls it; never a URL. */
  readonly issuerClass: string;
  readonly audience: 'match' | 'absent';
  /** The interface's record of what was verified. Its subjects are raw: for a run record, never for a log. */
  readonly identity: WorkloadIdentity;
}

export interface ActingParty {
  readonly principalId: string;
  readonly kind: 'user' | 'agent' | 'workload';
}
