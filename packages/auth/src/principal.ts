import type { Subject } from './subject.ts';
import type { Tenancy } from './tenancy.ts';

/** An authenticated caller. It says who calls and what they hold; `authorize` decides what they may do. */
export interface Principal {
  /** Opaque, never personal data. */
  readonly id: string;
  /** Absent keeps the plain behaviour; never inferred. */
  readonly kind: 'user' | 'agent' | 'anonymous' | undefined;
  /** Which credential was used: fit for logs and rate limits. */
  readonly credentialId: string;
  readonly lane: string;
  readonly tenancy: Tenancy;
  readonly scopes: readonly string[];
  readonly subject: Subject;
}
