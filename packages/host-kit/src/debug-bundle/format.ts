import type { CanonicalValue } from '@svc/auth/audit';
import { BUNDLE_VERSIONS } from '@svc/versioning/axes';
import type { JsonObject } from '../json.ts';

/** The `bundleVersion` of debug bundles. @see Interface: Versioning, Version axes, 10 */
export const DEBUG_BUNDLE_VERSION: string = BUNDLE_VERSIONS.debug;

/** The largest bundle in bytes. A host makes no larger one, and `verifyDebugBundle` reads none. */
export const MOST_BUNDLE_BYTES = 16_777_216;

/** A public key of a host, as `signingKeys` of its discovery documents has it. */
export interface SigningKey {
  readonly keyId: string;
  readonly alg: 'ed25519';
  /** The 32 bytes of the key in base64url. */
  readonly publicKey: string;
  /** Time from which the key signs nothing, ISO 8601. Absent: it is in use. */
  readonly retiredAt?: string | undefined;
}

/** A section that a bundle does not have. */
export interface OmittedSection {
  readonly section: 'deliveries' | 'decisions';
  /** `not-permitted`: the caller lacks the scope. `not-kept`: the host keeps no such records. */
  readonly reason: 'not-permitted' | 'not-kept';
}

/** The content of a bundle, before it is signed. */
export interface UnsignedBundle {
  readonly bundleVersion: string;
  readonly kind: 'debug';
  readonly bundleId: string;
  /** Time of its making, ISO 8601. */
  readonly createdAt: string;
  readonly host: JsonObject;
  /** The major in whose form the sections are. */
  readonly major: number;
  readonly run: JsonObject;
  /** The last events of the run. `isWhole`: there are no others. */
  readonly log: JsonObject;
  /** Queued deliveries of the events, and the last attempts. */
  readonly deliveries?: JsonObject;
  /** The entries of the audit log about the run. */
  readonly decisions?: JsonObject;
  readonly omitted: readonly OmittedSection[];
  /** The number of texts in which something was redacted. */
  readonly redactions: number;
}

/** A debug bundle of a run: its record, log, deliveries and decisions, redacted and signed by its host. */
export interface DebugBundle extends UnsignedBundle {
  readonly signature: {
    readonly alg: 'ed25519';
    readonly keyId: string;
    /** 64 bytes in base64url. */
    readonly value: string;
  };
}

/**
 * Returns the bytes that the signature of a bundle covers.
 *
 * @param canonical the canonical JSON of the bundle without its signature
 */
export function signedBytes(canonical: string): ReturnType<TextEncoder['encode']> {
  // The head keeps a signature of another use of the key from passing for one of a bundle.
  return new TextEncoder().encode(`svc debug bundle 2\n${canonical}`);
}

/** The JSON of a canonical value, for types that have optional members. */
export function canonicalOf(value: object): CanonicalValue {
  return JSON.parse(JSON.stringify(value));
}
