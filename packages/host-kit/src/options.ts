import type { Lane, RefusalLimit, RoleAuthorizer } from '@svc/auth';
import type { CheckpointSigner } from '@svc/auth/audit';
import type { RateLimiter } from '@svc/auth/rate-limit';
import type { EgressPolicy } from '@svc/egress-guard';
import type { Retirement, ServedOptions } from '@svc/versioning';
import type { AdvertisedAuthentication } from './discovery/authentication.ts';
import type { HostCapabilities } from './discovery/capabilities.ts';
import { LIMIT_VALUES } from './discovery/limit-values.ts';
import type { Coding } from './http/content-coding.ts';
import type { MountDefinition } from './mounts/mount.ts';
import type { Clock } from './ports/clock.ts';
import type { WorkflowEngine } from './ports/engine.ts';
import type { Log } from './ports/log.ts';
import type { Random } from './ports/random.ts';
import type { Store } from './ports/store.ts';
import type { SignatureAlgorithm } from './ports/subscriptions.ts';
import type { Transport } from './ports/transport.ts';
import type { ReaderLimits } from './streams/reader-limits.ts';
import type { StreamLimits } from './streams/stream.ts';
import type { TelemetryOptions } from './telemetry/scope.ts';
import type { RetryPolicy } from './webhooks/retry.ts';
import type { WorkspaceFileLimits } from './workspace/files.ts';

/** What a host is made of. */
export interface HostOptions {
  readonly store: Store;
  /** In the order in which they are asked. */
  readonly authenticate: readonly Lane[];
  /** What discovery tells of those lanes beside API keys. A host that takes tokens says here from whom. */
  readonly authentication?: AdvertisedAuthentication;
  /** Counts refused requests by client address. Default: they are not limited. */
  readonly refusals?: RefusalLimit;
  /** Decides by roles, too: what a credential's scope allows a role must allow in the workspace. Default: scopes decide alone. */
  readonly roles?: RoleAuthorizer;
  /** Keeps an audit log. Default: none is kept. */
  readonly audit?: AuditOptions;
  /** The host's own operations live under `/host/<org>/`. Default `example`. */
  readonly org?: string;
  /** Where clients reach the host, e.g. `https://svc.example.com`. Needed by a host that takes tokens. */
  readonly baseUrl?: string;
  readonly engine: WorkflowEngine;
  /**
   * Whether there is one tenant only, so that no run needs to say whose it is: runs, their `run.started` and deliveries of major 2 then name
   * no owner and nothing of one. Everything stays bound to the tenant of its credential, ids of major 2 included. Default: false.
   *
   * @see Interface: Run owner (identity triple)
   */
  readonly singleTenant?: boolean;
  /** 32 bytes; encrypts secrets at rest. */
  readonly secretKey: Uint8Array;
  /**
   * Keys that secrets may still be sealed with: they are opened, and sealed anew with `secretKey` after the start. The log says when
   * nothing is left that needs them. Hosts that share a store learn a key to come in the same way, before the first one seals with it.
   */
  readonly formerSecretKeys?: readonly Uint8Array[];
  /** Whether a tenant has a workspace of that name. */
  readonly hasWorkspace: (tenant: string, workspace: string) => boolean;
  /** What subscriptions may point at. Default: the public internet over https. */
  readonly egress?: EgressPolicy;
  /** How deliveries leave. Default: the guarded POST under `egress`. */
  readonly transport?: Transport;
  /** Default: 1.1 and 2.0, preferring 1.1. */
  readonly protocol?: ServedOptions;
  /** When major 1 was declared deprecated, and when it will be gone: said on each of its responses. */
  readonly retirement?: Retirement;
  readonly implementation?: { readonly name: string; readonly version: string; readonly vendor: string };
  /** The realm that API-key Subjects name as their issuer, as the API-key lane was told. Default `urn:svc:api-key`. */
  readonly apiKeyIssuer?: string;
  /** Further protocols under `/host/<org>/`: `@svc/host-kit/mounts/a2a`, `@svc/host-kit/mounts/mcp`. Default: none. */
  readonly mounts?: readonly MountDefinition[];
  /** What the host serves beside the kit, for discovery. Default: nothing. */
  readonly capabilities?: HostCapabilities;
  /** Requests of one credential. Default: not limited. */
  readonly rateLimit?: RateLimiter;
  readonly webhooks?: Partial<WebhookOptions>;
  readonly streams?: Partial<StreamOptions>;
  /** How long a reply is kept under its idempotency key, in hours: at least, and by default, 24. */
  readonly idempotencyRetentionHours?: number;
  /** What a workspace has room for, where agents keep files. Default: no files are served. */
  readonly workspaceFiles?: Partial<WorkspaceFileLimits>;
  /** How answers may be coded for callers who ask for it, the preferred first. Default: `zstd`, `br`, `gzip`. */
  readonly contentEncodings?: readonly Coding[];
  /** Default 1 MiB. */
  readonly maxRequestBodyBytes?: number;
  readonly log?: Log;
  /** Where metrics and spans go. Default: to the OpenTelemetry SDK that the process has registered, if any. */
  readonly telemetry?: TelemetryOptions;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface AuditOptions {
  /** Signs checkpoints, and nothing else. */
  readonly signer: CheckpointSigner;
  /** Public keys of earlier signers, whose checkpoints are still there. */
  readonly formerPublicKeys?: readonly string[];
  /** A checkpoint after so many entries. Default 1000. */
  readonly checkpointIntervalEntries?: number;
  /** A checkpoint at least so often. Default 300. */
  readonly checkpointIntervalSeconds?: number;
}

export interface WebhookOptions {
  /** Whether subscriptions of major 1 retry and dead-letter; those of major 2 always do. */
  readonly durable: boolean;
  /** Default: three attempts, 250 ms apart. */
  readonly retryPolicy: RetryPolicy;
  readonly attemptTimeoutMs: number;
  readonly circuit: {
    readonly failureThreshold: number;
    readonly cooldownMs: number;
    readonly failureLimit: number;
    readonly failureWindowMs: number;
  };
  readonly deadLetterRetentionDays: number;
  /** What subscriptions of major 2 may ask to be signed by: `v1`, and beside it Standard Webhooks. */
  readonly signatureAlgorithms: readonly SignatureAlgorithm[];
  /** How long a secret that was replaced stays good: 60 s to 7 days. */
  readonly secretRotation: { readonly overlapSeconds: number };
  /** Serves clients of older documents, which name no workspace in major 1. */
  readonly tenantIdOptional: boolean;
  readonly concurrency: { readonly total: number; readonly perSubscription: number };
}

/** Streams of events, and polls that wait for them. */
export interface StreamOptions extends StreamLimits {
  /** How many there may be at a time. What is more is answered 429. */
  readonly readerLimits: ReaderLimits;
}

export const STREAM_DEFAULTS: StreamOptions = {
  readerLimits: { perRun: 500, perCredential: 500, total: 2000 },
  keepAliveMs: 15_000,
  judgeEveryMs: 30_000,
  stallMs: 30_000,
};

/** What is kept of rendered pages, for readers of the same run. */
export const STREAM_PAGES_BYTES = 8_388_608;

/** The longest that a stream may be silent. */
export const LONGEST_SILENCE_MS = 30_000;

/** @see The profile `svc-audit-log-integrity` */
export const AUDIT_DEFAULTS: { readonly entries: number; readonly seconds: number } = { entries: 1000, seconds: 300 };

const HOUR_MS = 3_600_000;

/** The interface's values. @see Interface: Limits */
export const WEBHOOK_DEFAULTS: WebhookOptions = {
  durable: false,
  retryPolicy: { maxAttempts: 3, backoff: 'fixed', delayMs: 250, maxDelayMs: 30_000 },
  attemptTimeoutMs: 5000,
  circuit: { failureThreshold: 4, cooldownMs: HOUR_MS, failureLimit: 100, failureWindowMs: 7 * 24 * HOUR_MS },
  deadLetterRetentionDays: 30,
  signatureAlgorithms: ['v1', 'standard-webhooks-1'],
  secretRotation: { overlapSeconds: 86_400 },
  tenantIdOptional: false,
  concurrency: { total: 64, perSubscription: 4 },
};

export const DEFAULT_PROTOCOL: ServedOptions = { versions: ['1.1', '2.0'], preferred: '1.1' };
export const DEFAULT_MAX_REQUEST_BODY_BYTES: number = LIMIT_VALUES['limits.maxRequestBodyBytes'];
export const BODY_TIMEOUT_MS = 10_000;

/** @see Interface: Limits */
export const WORKSPACE_FILE_DEFAULTS: WorkspaceFileLimits = {
  maxFileBytes: LIMIT_VALUES['workspace.maxFileBytes'],
  maxFiles: 256,
  maxVersions: 10,
};
