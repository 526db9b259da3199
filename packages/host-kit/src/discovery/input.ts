import type { SignatureAlgorithm } from '../ports/subscriptions.ts';
import type { RetryPolicy } from '../webhooks/retry.ts';
import type { AdvertisedAuthentication } from './authentication.ts';
import type { DiscoveryOptions } from './discovery-options.ts';

/** The facts about a host from which both documents are built. */
export interface DiscoveryInput {
  /** Served protocol versions, `<major>.<minor>`. */
  readonly versions: readonly string[];
  /** The preferred one of `versions`. */
  readonly preferred: string;
  /** Clients of a lower version are rejected. `0.0`: none is. */
  readonly minClientVersion: string;
  readonly implementation: { readonly name: string; readonly version: string; readonly vendor: string };
  readonly engineVersion: number;
  readonly maxRequestBodyBytes: number;
  readonly webhooks: {
    /** True: subscriptions of major 1 are durable. Those of major 2 always are. */
    readonly durable: boolean;
    readonly retryPolicy: RetryPolicy;
    readonly deadLetterRetentionDays: number;
    /** Signature algorithms of major 2. Major 1 has `v1` alone. */
    readonly signatureAlgorithms: readonly SignatureAlgorithm[];
    /** Time in seconds during which both the former and the new secret sign. */
    readonly secretRotation: { readonly overlapSeconds: number };
  };
  /** Content codings of responses. Empty: responses are not compressed. */
  readonly contentEncodings: readonly ('zstd' | 'br' | 'gzip')[];
  /** Limits of workspace files. Undefined: none are served. */
  readonly workspaceFiles:
    | { readonly maxFileBytes: number; readonly maxFiles: number; readonly maxVersions: number }
    | undefined;
  /** Hours for which a reply is replayed under its idempotency key. */
  readonly idempotencyRetentionHours: number;
  readonly authentication: AdvertisedAuthentication;
  /** Roles and their scopes. Undefined: the host does not check roles. */
  readonly roles: readonly { readonly role: string; readonly scopes: readonly string[] }[] | undefined;
  /** Undefined: the host has no audit log. */
  readonly audit: AdvertisedAudit | undefined;
  /** The path of the document that a caller's workspaces see. Undefined: there is none. */
  readonly workspacePath: string | undefined;
  /** Facts and capabilities that the host declares itself. */
  readonly declared: DiscoveryOptions;
}

/** Parameters of the audit log's checkpoints. One is made after so many entries, or so many seconds. */
export interface AdvertisedAudit {
  /** Ed25519 public key: 44 bytes of DER (SubjectPublicKeyInfo) in base64. */
  readonly checkpointPublicKey: string;
  readonly checkpointIntervalEntries: number;
  readonly checkpointIntervalSeconds: number;
}
