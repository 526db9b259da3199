import * as z from 'zod/mini';
import { looksLikeCredential } from './credential-material.ts';

/** Ways in which a workload can prove its identity. */
export const WORKLOAD_SCHEMES = ['spiffe', 'mtls-san', 'cloud-subject', 'oauth-client'] as const;

/** A scheme of `WORKLOAD_SCHEMES`. */
export type WorkloadSchemeName = (typeof WORKLOAD_SCHEMES)[number];

const text = z.string().check(
  z.minLength(1),
  z.maxLength(2048),
  z.refine((value) => !/[\p{C}]/u.test(value), 'must not contain control characters'),
  z.refine((value) => !looksLikeCredential(value), 'must not be or contain a credential, a token or a certificate'),
);

const digest = z
  .string()
  .check(z.regex(/^sha256:[0-9a-f]{64}$/, 'must be "sha256:" followed by 64 lower-case hexadecimal digits'));

/** Checked by the grammar and by the calendar: the 30th of February is refused. */
const dateTime = z.iso.datetime({ offset: true });

const uniqueScopes = z
  .array(text)
  .check(z.refine((scopes) => new Set(scopes).size === scopes.length, 'must not name a scope twice'));

const hop = z.strictObject({ subject: text, issuer: z.optional(text), scopes: z.optional(uniqueScopes) });

/** The closed record of a verified delegation. @see Interface: Workload identity object, Delegation object */
export const delegationSchema: z.ZodMiniType<Delegation> = z.strictObject({
  chain: z.array(hop).check(z.minLength(1)),
  audience: text,
  expiresAt: z.optional(dateTime),
  proofRef: z.optional(digest),
});

/**
 * The closed record of a verified workload identity. It contains references, never the presented credential: a value
 * that looks like a certificate, a token or a key is refused in every field.
 *
 * @example
 * const identity = workloadIdentitySchema.parse({ scheme: 'spiffe', subject: 'spiffe://acme.example/billing' });
 * @see Interface: Workload identity object (closed: no extra properties)
 */
export const workloadIdentitySchema: z.ZodMiniType<WorkloadIdentity> = z.strictObject({
  scheme: z.enum(WORKLOAD_SCHEMES),
  subject: text,
  issuer: z.optional(text),
  audience: z.optional(text),
  keyBinding: z.optional(z.strictObject({ method: z.enum(['mtls', 'dpop']), thumbprintRef: z.optional(digest) })),
  delegation: z.optional(delegationSchema),
});

/** A verified workload identity. */
export interface WorkloadIdentity {
  /** The scheme that verified it. */
  readonly scheme: WorkloadSchemeName;
  /** The subject, in the form of the scheme. */
  readonly subject: string;
  /** The trust root. */
  readonly issuer?: string | undefined;
  /** The audience of the identity. Absent for a certificate. */
  readonly audience?: string | undefined;
  /** The key to which the identity is bound, if any. */
  readonly keyBinding?: KeyBinding | undefined;
  /** The delegation under which the workload acts, if any. */
  readonly delegation?: Delegation | undefined;
}

/** The key to which an identity is bound. */
export interface KeyBinding {
  /** The proof of possession. */
  readonly method: 'mtls' | 'dpop';
  /** `sha256:` and 64 hexadecimal digits; never the key. */
  readonly thumbprintRef?: string | undefined;
}

/** A verified delegation. */
export interface Delegation {
  /** The delegates, from the first to the caller. */
  readonly chain: readonly DelegationHop[];
  /** The audience of the proof. */
  readonly audience: string;
  /** The earliest expiry of the hops, ISO 8601. */
  readonly expiresAt?: string | undefined;
  /** `sha256:` and the SHA-256 of the proof; never the proof. */
  readonly proofRef?: string | undefined;
}

/** A delegate. */
export interface DelegationHop {
  /** Its subject. */
  readonly subject: string;
  /** Its issuer. */
  readonly issuer?: string | undefined;
  /** The delegated scopes. Provenance: they authorize nothing. */
  readonly scopes?: readonly string[] | undefined;
}
