import type { SignatureAlgorithm } from '../ports/subscriptions.ts';
import type { RetryPolicy } from '../webhooks/retry.ts';
import type { AdvertisedAuthentication } from './authentication.ts';
import type { HostCapabilities } from './capabilities.ts';

/** What a host is and does, as both documents tell it. */
export interface DiscoveryInput {
  readonly versions: readonly string[];
  readonly preferred: string;
  readonly minClientVersion: string | undefined;
  readonly implementation: { readonly name: string; readonly version: string; readonly vendor: string };
  readonly engineVersion: number;
  readonly maxRequestBodyBytes: number;
  readonly webhooks: {
    /** Whether subscriptions of major 1 are durable; those of major 2 always are. */
    readonly durable: boolean;
    readonly retryPolicy: RetryPolicy;
    readonly deadLetterRetentionDays: number;
    /** Of major 2. In major 1, which takes no secret from its callers, there is one. */
    readonly signatureAlgorithms: readonly SignatureAlgorithm[];
    readonly secretRotation: { readonly overlapSeconds: number };
  };
  readonly contentEncodings: readonly ('zstd' | 'br' | 'gzip')[];
  /** Undefined when no workspace files are served. */
  readonly workspaceFiles:
    | { readonly maxFileBytes: number; readonly maxFiles: number; readonly maxVersions: number }
    | undefined;
  /** How long a reply is kept under its idempotency key. */
  readonly idempotencyRetentionHours: number;
  /** The realm that API-key Subjects name as their issuer. */
  readonly apiKeyIssuer: string;
  readonly authentication: AdvertisedAuthentication;
  /** Undefined when roles are not asked. */
  readonly roles: readonly { readonly role: string; readonly scopes: readonly string[] }[] | undefined;
  /** Undefined when no audit log is kept. */
  readonly audit: AdvertisedAudit | undefined;
  /** What it serves beside the kit. */
  readonly capabilities: HostCapabilities;
}

export interface AdvertisedAudit {
  /** 44 bytes of DER in base64. */
  readonly checkpointPublicKey: string;
  readonly checkpointIntervalEntries: number;
  readonly checkpointIntervalSeconds: number;
}
