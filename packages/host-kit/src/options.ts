import type { Lane, RefusalLimit, RoleAuthorizer } from '@svc/auth';
import type { RateLimiter } from '@svc/auth/rate-limit';
import type { EgressPolicy } from '@svc/egress-guard';
import type { GuardedFetch } from '@svc/egress-guard/fetch';
import type { Retirement, ServedOptions } from '@svc/versioning';
import type { StoredAccess } from './access/access-model.ts';
import type { HostCapabilities } from './discovery/capabilities.ts';
import type { WorkspaceDiscovery } from './discovery/workspace-view.ts';
import type { Coding } from './http/content-coding.ts';
import type { CorsOptions } from './http/cors.ts';
import type { SignInRule } from './http/sign-in-rules.ts';
import type { StoredKeys } from './keys/stored-keys.ts';
import type { MountDefinition } from './mounts/mount.ts';
import type { AuditOptions } from './options/audit-options.ts';
import type { DebugBundleKeys } from './options/debug-bundle-keys.ts';
import type { MirrorOptions } from './options/mirror-options.ts';
import type { PortalOptions } from './options/portal-options.ts';
import type { RetentionOptions } from './options/retention-options.ts';
import type { StreamOptions } from './options/stream-options.ts';
import type { TriggerOptions } from './options/trigger-options.ts';
import type { WebhookSettings } from './options/webhook-options.ts';
import type { ApproverDirectory } from './ports/approvers.ts';
import type { Clock } from './ports/clock.ts';
import type { AnyEngine } from './ports/engine.ts';
import type { Log } from './ports/log.ts';
import type { Random } from './ports/random.ts';
import type { Store } from './ports/store.ts';
import type { Transport } from './ports/transport.ts';
import type { TelemetryOptions } from './telemetry/scope.ts';
import type { WorkspaceFileLimits } from './workspace/files.ts';

/**
 * The options of `createHost`.
 *
 * @example
 * const options: HostOptions = {
 *   store: sqliteStore('svc.db'),
 *   authenticate: [apiKeys({ [key]: { tenant: 'acme', scopes: ['runs:*'] } })],
 *   engine: { greet: async ({ inputs }) => ({ greeting: `Hello, ${inputs.name}` }) },
 *   secretKey: secretKeyFile('svc.db-secret-key'),
 * };
 */
export interface HostOptions {
  /** Runs, events, subscriptions and deliveries are stored here. The host closes it in `stop`. */
  readonly store: Store;
  /**
   * The lanes that authenticate callers, in the order in which they are asked. At least one. Discovery, challenges and the
   * metadata of RFC 9728 name what they accept, with the URLs of the issuers. Anyone can read these documents.
   */
  readonly authenticate: readonly Lane[];
  /** Limits refused credentials, and requests without one, by client address. Default: no limit. */
  readonly refusals?: RefusalLimit;
  /**
   * Scopes of routes of your own, which keys of this host may have beside those of the host. Otherwise the log has
   * `key.unknown-scope` at the start for such a scope of a configured key. Default: none.
   */
  readonly ownScopes?: readonly string[];
  /** Requires a role in the workspace beside the scope of the credential. Default: scopes decide alone. */
  readonly roles?: RoleAuthorizer;
  /**
   * Operations and scopes that need a strong or a recent sign-in. A caller without it gets 401 with the challenge of RFC
   * 9470; one whose credential tells of no sign-in, such as an API key, always does. Default: none.
   */
  readonly stepUp?: readonly SignInRule[];
  /** Resolves the groups and roles that approvals name. Default: approvals can name principals alone. */
  readonly approvers?: ApproverDirectory;
  /** Keeps an audit log. Default: no audit log. */
  readonly audit?: AuditOptions;
  /**
   * Serves `/host/<org>/runs/{runId}/debug-bundle`, and names the keys in `signingKeys` of discovery. Default: debug
   * bundles are not served.
   */
  readonly debugBundles?: DebugBundleKeys;
  /** The segment of `/host/<org>/`, the path of every mount. Lower kebab case. Default `example`. */
  readonly org?: string;
  /** The public origin of the host, e.g. `https://svc.example.com`. Required of a host that accepts tokens. */
  readonly baseUrl?: string;
  /**
   * Executes the workflows: functions by workflow id, each of which resolves with the outputs of a run; an engine; or one function
   * that executes every run.
   */
  readonly engine: AnyEngine;
  /**
   * Whether the host has one tenant. Its runs, their `run.started` and deliveries of major 2 then name no owner.
   * Records and ids of major 2 stay bound to the tenant of their credential. Default: false.
   *
   * @see Interface: Run owner (identity triple)
   */
  readonly singleTenant?: boolean;
  /**
   * 32 random bytes: as bytes, or as text of 64 hexadecimal digits or of base64. Encrypts webhook secrets, tenants' secrets and
   * stored replies (AES-256-GCM).
   */
  readonly secretKey: Uint8Array | string;
  /**
   * Former values of `secretKey`. Records that they sealed are opened, and sealed anew with `secretKey` after the
   * start. The log record `secrets.resealed` tells when no record needs them any more. Hosts that share a store get the
   * next key here, before the first of them uses it as `secretKey`. Default: none.
   */
  readonly formerSecretKeys?: readonly (Uint8Array | string)[];
  /**
   * Returns whether a tenant has a workspace of that name. Requests for another workspace are refused. Any answer but `true`
   * is no; one that is no boolean, such as a promise, is logged as `workspace.misjudged`. Default: every workspace that the
   * credential of the caller reaches. Pass one when the tokens of an issuer name workspaces: without it, a name that was never
   * given to a workspace is one.
   */
  readonly hasWorkspace?: (tenant: string, workspace: string) => boolean;
  /** The URLs that subscriptions may point at. Default: public addresses over https. */
  readonly egress?: EgressPolicy;
  /**
   * The fetch of runs, `execution.fetch`. The host closes it at its stop. Default: the guarded fetch of
   * `@svc/egress-guard/fetch` under `egress`, with the limits of `capabilities.families.httpClient`.
   */
  readonly fetch?: GuardedFetch;
  /** Sends deliveries. Default: the guarded POST of `@svc/egress-guard/post` under `egress`. */
  readonly transport?: Transport;
  /**
   * Answers a share of the reads again in the other major, and compares both answers: `/host/<org>/versions/mirror` reports
   * the differences. Needs both majors. Default: no read is compared. `{}` takes every default.
   */
  readonly mirrorReads?: Partial<MirrorOptions>;
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
  /**
   * Serves `/host/<org>/keys`: callers with the scope `keys:manage` create, list, change, rotate and revoke keys. Pass the
   * same `storedKeys` to `apiKeyLane`. Default: not served.
   */
  readonly apiKeys?: StoredKeys;
  /**
   * Serves `/host/<org>/withdrawals`: callers with the scope `withdrawals:manage` withdraw people, tokens and sessions.
   * With `roles` of `storedAccess` also `/host/<org>/roles` and `/host/<org>/assignments`: callers with the scope
   * `roles:manage` give others what they hold. With `workloads` of `storedAccess` also `/host/<org>/workload-bindings`, where
   * these callers bind workloads. Pass its `directory` to `roleAuthorizer`, and its `resolveWorkload` to `workloadLane`.
   * Default: not served.
   */
  readonly access?: StoredAccess;
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
  /** Delivery of events. Each missing member takes its default. */
  readonly webhooks?: WebhookSettings;
  /** Event streams and long polls. Each missing member takes its default. */
  readonly streams?: Partial<StreamOptions>;
  /**
   * Serves trigger subscriptions: messages of other systems that start runs. Needs `baseUrl`. Default: not served. `{}` takes
   * every default.
   */
  readonly triggers?: Partial<TriggerOptions>;
  /**
   * Serves `/host/<org>/portal-sessions`, where callers with the scope `webhooks:manage` create sessions for their customers,
   * and `/host/<org>/portal`, the operations of a session. Default: not served.
   */
  readonly portal?: PortalOptions;
  /** The time for which a reply is stored under its idempotency key, in hours. At least 24. Default 24. */
  readonly idempotencyRetentionHours?: number;
  /**
   * The times after which records are removed. Default: runs and the entries of the audit log are kept for ever, effects
   * for 30 days, counts of deliveries for 7, callers of each major for 90. Dead letters have `webhooks.deadLetterRetentionDays`, stored replies `idempotencyRetentionHours`.
   */
  readonly retention?: Partial<RetentionOptions>;
  /**
   * The limits of workspace files. Default: workspace files are not served. `{}` serves them with the default limits.
   */
  readonly workspaceFiles?: Partial<WorkspaceFileLimits>;
  /** The content codings for callers that accept them, the preferred first. Default: `zstd`, `br`, `gzip`. */
  readonly contentEncodings?: readonly Coding[];
  /** The largest request body in bytes. A larger one is answered 413. Default 1 048 576. */
  readonly maxRequestBodyBytes?: number;
  /**
   * Receives structured log records. Default: those of the levels `warn` and `error` are written to standard error, each as
   * a line of JSON whose long texts are cut, and one line a second for one cause. `() => {}` writes nothing.
   */
  readonly log?: Log;
  /** The destination of metrics and spans. Default: the OpenTelemetry SDK that the process has registered, if any. */
  readonly telemetry?: TelemetryOptions;
  /** The source of time. Default: the clock of the machine. */
  readonly clock?: Clock;
  /** The source of ids, secrets and jitter. Default: the generator of the operating system. */
  readonly random?: Random;
}
