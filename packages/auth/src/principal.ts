import type { Subject } from './subject.ts';
import type { Tenancy } from './tenancy.ts';

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
  readonly tenancy: Tenancy;
  readonly scopes: readonly string[];
  readonly subject: Subject;
}
