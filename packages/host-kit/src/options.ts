import type { Lane, RefusalLimit, RoleAuthorizer } from '@svc/auth';
import type { CheckpointSigner } from '@svc/auth/audit';
import type { RateLimiter } from '@svc/auth/rate-limit';
import type { EgressPolicy } from '@svc/egress-guard';
import type { GuardedFetch } from '@svc/egress-guard/fetch';
import type { Retirement, ServedOptions } from '@svc/versioning';
import type { AdvertisedAuthentication } from './discovery/authentication.ts';
import type { HostCapabilities } from './discovery/capabilities.ts';
import { LIMIT_VALUES } from './discovery/limit-values.ts';
import type { WorkspaceDiscovery } from './discovery/workspace-view.ts';
import type { Coding } from './http/content-coding.ts';
import type { CorsOptions } from './http/cors.ts';
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

/**
 * The options of `createHost`.
 *
 * @example
 * const options: HostOptions = {
 *   store: sqliteStore('svc.db'),
 *   authenticate: [apiKeyLane({ keys: memoryKeyStore(records), now: Date.now })],
 *   engine,
 *   secretKey: readFileSync('secret.key'),
 *   hasWorkspace: (tenant, workspace) => tenant === 'acme' && workspace === 'acme-prod',
 * };
 */
export interface HostOptions {
  /** Runs, events, subscriptions and deliveries are stored here. The host closes it in `stop`. */
  readonly store: Store;
  /** The lanes that authenticate callers, in the order in which they are asked. At least one. */
  readonly authenticate: readonly Lane[];
  /**
   * The token issuers and sender constraints that discovery advertises. Required of a host that accepts tokens.
   * Default: API keys alone.
   */
  readonly authentication?: AdvertisedAuthentication;
  /** Limits refused requests by client address. Default: no limit. */
  readonly refusals?: RefusalLimit;
  /** Requires a role in the workspace beside the scope of the credential. Default: scopes decide alone. */
  readonly roles?: RoleAuthorizer;
  /** Keeps an audit log. Default: no audit log. */
  readonly audit?: AuditOptions;
  /** The segment of `/host/<org>/`, the path of every mount. Lower kebab case. Default `example`. */
  readonly org?: string;
  /** The public origin of the host, e.g. `https://svc.example.com`. Required of a host that accepts tokens. */
  readonly baseUrl?: string;
  /** Executes the workflows. */
  readonly engine: WorkflowEngine;
  /**
   * Whether the host has one tenant. Its runs, their `run.started` and deliveries of major 2 then name no owner.
   * Records and ids of major 2 stay bound to the tenant of their credential. Default: false.
   *
   * @see Interface: Run owner (identity triple)
   */
  readonly singleTenant?: boolean;
  /** 32 random bytes. Encrypts webhook secrets, tenants' secrets and stored replies (AES-256-GCM). */
  readonly secretKey: Uint8Array;
  /**
   * Former values of `secretKey`. Records that they sealed are opened, and sealed anew with `secretKey` after the
   * start. The log record `secrets.resealed` tells when no record needs them any more. Hosts that share a store get the
   * next key here, before the first of them uses it as `secretKey`. Default: none.
   */
  readonly formerSecretKeys?: readonly Uint8Array[];
  /** Returns whether a tenant has a workspace of that name. */
  readonly hasWorkspace: (tenant: string, workspace: string) => boolean;
  /** The URLs that subscriptions may point at. Default: public addresses over https. */
  readonly egress?: EgressPolicy;
  /**
   * The fetch of runs, `execution.fetch`. The host closes it at its stop. Default: the guarded fetch of
   * `@svc/egress-guard/fetch` under `egress`, with the limits of `capabilities.families.httpClient`.
   */
  readonly fetch?: GuardedFetch;
  /** Sends deliveries. Default: the guarded POST of `@svc/egress-guard/post` under `egress`. */
  readonly transport?: Transport;
  /** The protocol versions that are served. Default: 1.1 and 2.0, preferring 1.1. */
  readonly protocol?: ServedOptions;
  /**
   * The dates of the deprecation and the sunset of major 1, stamped on each of its responses. Default: not retiring.
   */
  readonly retirement?: Retirement;
  /** The host software that discovery names. Default: this package. */
  readonly implementation?: {
    /** The name of the host software. */
    readonly name: string;
    /** Its version. */
    readonly version: string;
    /** The organization that makes it. */
    readonly vendor: string;
  };
  /** The issuer in the Subjects of API keys. Must equal the `issuer` of the API-key lane. Default `urn:svc:api-key`. */
  readonly apiKeyIssuer?: string;
  /** Further protocols under `/host/<org>/`: `a2a`, `mcp` and `chat` of `@svc/host-kit/mounts/…`. Default: none. */
  readonly mounts?: readonly MountDefinition[];
  /**
   * Serves `/host/<org>/discovery`: the part of the discovery document that the workspaces of the caller see. Default:
   * not served, and every caller sees the whole document.
   */
  readonly workspaceDiscovery?: WorkspaceDiscovery;
  /** Capabilities that the host serves beside those of the kit, for discovery. Default: none. */
  readonly capabilities?: HostCapabilities;
  /** Limits the requests of each credential. Default: no limit. */
  readonly rateLimit?: RateLimiter;
  /** The web pages that may call the host from a browser. Default: none, so no answer has a CORS header. */
  readonly cors?: CorsOptions;
  /** Delivery of events. Each missing member takes the default of the interface. */
  readonly webhooks?: Partial<WebhookOptions>;
  /** Event streams and long polls. Each missing member takes its default. */
  readonly streams?: Partial<StreamOptions>;
  /** The time for which a reply is stored under its idempotency key, in hours. At least 24. Default 24. */
  readonly idempotencyRetentionHours?: number;
  /**
   * The limits of workspace files. Default: workspace files are not served. `{}` serves them with the default limits.
   */
  readonly workspaceFiles?: Partial<WorkspaceFileLimits>;
  /** The content codings for callers that accept them, the preferred first. Default: `zstd`, `br`, `gzip`. */
  readonly contentEncodings?: readonly Coding[];
  /** The largest request body in bytes. A larger one is answered 413. Default 1 048 576. */
  readonly maxRequestBodyBytes?: number;
  /** Receives structured log records. Default: no log. */
  readonly log?: Log;
  /** The destination of metrics and spans. Default: the OpenTelemetry SDK that the process has registered, if any. */
  readonly telemetry?: TelemetryOptions;
  /** The source of time. Default: the clock of the machine. */
  readonly clock?: Clock;
  /** The source of ids, secrets and jitter. Default: the generator of the operating system. */
  readonly random?: Random;
}

/** The audit log of a host. @see Interface: Audit logging */
export interface AuditOptions {
  /** Signs checkpoints. Use its key for nothing else. */
  readonly signer: CheckpointSigner;
  /** Public keys of former signers, for checkpoints that are still stored. Default: none. */
  readonly formerPublicKeys?: readonly string[];
  /** The most entries between two checkpoints. Default 1000. */
  readonly checkpointIntervalEntries?: number;
  /** The most seconds between an entry and the checkpoint that covers it. Default 300. */
  readonly checkpointIntervalSeconds?: number;
}

/**
 * The delivery of events. The defaults are in `WEBHOOK_DEFAULTS`.
 *
 * @see Interface: Events, Webhook delivery of events
 */
export interface WebhookOptions {
  /** Whether subscriptions of major 1 retry and dead-letter. Those of major 2 always do. Default false. */
  readonly durable: boolean;
  /** The retries of durable subscriptions. Default: three attempts, 250 ms apart. */
  readonly retryPolicy: RetryPolicy;
  /**
   * The time in which an attempt must be answered, from the resolution of the name to the last byte, in ms. Default
   * 5000.
   */
  readonly attemptTimeoutMs: number;
  /** The circuit of best-effort subscriptions. */
  readonly circuit: {
    /** Consecutive failures that open the circuit. Default 4. */
    readonly failureThreshold: number;
    /** The time for which an open circuit admits no attempt, in ms. Default one hour. */
    readonly cooldownMs: number;
    /** Failures within `failureWindowMs` that mark the subscription `failed`. Default 100. */
    readonly failureLimit: number;
    /** In ms. Default seven days. */
    readonly failureWindowMs: number;
  };
  /**
   * The time without a success after which a durable subscription moves to `failed`, in hours: when an attempt fails,
   * and every attempt has failed for this time. 0: never. Default 120.
   */
  readonly failAfterHours: number;
  /** The time for which a dead letter is stored, in days. Default 30. */
  readonly deadLetterRetentionDays: number;
  /** The signature algorithms that subscriptions of major 2 may ask for. Default `v1` and `standard-webhooks-1`. */
  readonly signatureAlgorithms: readonly SignatureAlgorithm[];
  /** The rotation of secrets of `standard-webhooks-1`. */
  readonly secretRotation: {
    /** The time for which a replaced secret still signs, in seconds, from 60 to 604 800. Default 86 400. */
    readonly overlapSeconds: number;
  };
  /** Accepts requests of major 1 without `tenantId`, for clients of older documents. Default false. */
  readonly tenantIdOptional: boolean;
  /** The most attempts at a time. */
  readonly concurrency: {
    /** The most attempts of the host. Default 64. */
    readonly total: number;
    /** The most attempts of one subscription. Default 4. */
    readonly perSubscription: number;
  };
}

/** Event streams, and polls that wait for events. The defaults are in `STREAM_DEFAULTS`. */
export interface StreamOptions extends StreamLimits {
  /** The most readers at a time. Further ones are answered 429. Default: 500 a run, 500 a credential, 2000 in all. */
  readonly readerLimits: ReaderLimits;
}

/** The defaults of `HostOptions.streams`. */
export const STREAM_DEFAULTS: StreamOptions = {
  readerLimits: { perRun: 500, perCredential: 500, total: 2000 },
  keepAliveMs: 15_000,
  judgeEveryMs: 30_000,
  stallMs: 30_000,
};

/** The most bytes of rendered pages in memory, for readers of the same run. */
export const STREAM_PAGES_BYTES = 8_388_608;

/** The longest permitted `streams.keepAliveMs`. */
export const LONGEST_SILENCE_MS = 30_000;

/** The default checkpoint intervals. @see The profile `svc-audit-log-integrity` */
export const AUDIT_DEFAULTS: { readonly entries: number; readonly seconds: number } = { entries: 1000, seconds: 300 };

const HOUR_MS = 3_600_000;

/** The defaults of `HostOptions.webhooks`: the values of the interface. @see Interface: Limits */
export const WEBHOOK_DEFAULTS: WebhookOptions = {
  durable: false,
  retryPolicy: { maxAttempts: 3, backoff: 'fixed', delayMs: 250, maxDelayMs: 30_000 },
  attemptTimeoutMs: 5000,
  circuit: { failureThreshold: 4, cooldownMs: HOUR_MS, failureLimit: 100, failureWindowMs: 7 * 24 * HOUR_MS },
  failAfterHours: 120,
  deadLetterRetentionDays: 30,
  signatureAlgorithms: ['v1', 'standard-webhooks-1'],
  secretRotation: { overlapSeconds: 86_400 },
  tenantIdOptional: false,
  concurrency: { total: 64, perSubscription: 4 },
};

export const DEFAULT_PROTOCOL: ServedOptions = { versions: ['1.1', '2.0'], preferred: '1.1' };
export const DEFAULT_MAX_REQUEST_BODY_BYTES: number = LIMIT_VALUES['limits.maxRequestBodyBytes'];
export const BODY_TIMEOUT_MS = 10_000;

/** The default limits of workspace files. @see Interface: Limits */
export const WORKSPACE_FILE_DEFAULTS: WorkspaceFileLimits = {
  maxFileBytes: LIMIT_VALUES['workspace.maxFileBytes'],
  maxFiles: 256,
  maxVersions: 10,
};
