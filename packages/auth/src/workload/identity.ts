import * as z from 'zod/mini';
import { looksLikeCredential } from './credential-material.ts';

/** How a workload can prove what it is. */
export const WORKLOAD_SCHEMES = ['spiffe', 'mtls-san', 'cloud-subject', 'oauth-client'] as const;

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

/** By the grammar and by the calendar: the 30th of February is no day. */
const dateTime = z.iso.datetime({ offset: true });

const uniqueScopes = z
  .array(text)
  .check(z.refine((scopes) => new Set(scopes).size === scopes.length, 'must not name a scope twice'));

const hop = z.strictObject({ subject: text, issuer: z.optional(text), scopes: z.optional(uniqueScopes) });

/** @see Interface: Workload identity object, Delegation object */
export const delegationSchema: z.ZodMiniType<Delegation> = z.strictObject({
  chain: z.array(hop).check(z.minLength(1)),
  audience: text,
  expiresAt: z.optional(dateTime),
  proofRef: z.optional(digest),
});

/**
 * The closed record of a verified workload identity. It holds references, never what was presented: a value that looks like a
 * certificate, a token or a key is refused wherever it stands.
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

export interface WorkloadIdentity {
  readonly scheme: WorkloadSchemeName;
  readonly subject: string;
  readonly issuer?: string | undefined;
  /** What the identity was minted for. */
  readonly audience?: string | undefined;
  readonly keyBinding?: KeyBinding | undefined;
  readonly delegation?: Delegation | undefined;
}

export interface KeyBinding {
  readonly method: 'mtls' | 'dpop';
  /** `sha256:` and 64 hexadecimal digits; never the key. */
  readonly thumbprintRef?: string | undefined;
}

export interface Delegation {
  /** From the first delegate to the one that calls. */
  readonly chain: readonly DelegationHop[];
  readonly audience: string;
  /** ISO 8601. */
  readonly expiresAt?: string | undefined;
  /** SHA-256 of the proof; never the proof. */
  readonly proofRef?: string | undefined;
}

export interface DelegationHop {
  readonly subject: string;
  readonly issuer?: string | undefined;
  /** Provenance: they authorize nothing. */
  readonly scopes?: readonly string[] | undefined;
}
