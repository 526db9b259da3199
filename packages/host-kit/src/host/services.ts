import type { CheckpointSigner } from '@svc/auth/audit';
import { checkedOrigin } from '@svc/auth/audit-tree';
import { type EgressPolicy, egressPolicy } from '@svc/egress-guard';
import { type GuardedFetch, type GuardedFetchOptions, guardedFetch } from '@svc/egress-guard/fetch';
import { checkVendorOrg, type Served, served as servedVersions } from '@svc/versioning';
import type { RecordAudit } from '../audit/fact.ts';
import { type AuditRecorder, auditRecorder } from '../audit/recorder.ts';
import { type BundleSigner, bundleSigner } from '../debug-bundle/sign.ts';
import { type AdvertisedAuthentication, advertisedBy } from '../discovery/authentication.ts';
import type { HostCapabilities } from '../discovery/capabilities.ts';
import { LIMIT_VALUES } from '../discovery/limit-values.ts';
import { runLimits } from '../discovery/limits.ts';
import type { RunLimits } from '../execution/limits.ts';
import { type FloodGuard, floodGuard } from '../flood-guard.ts';
import { CODINGS, type Coding } from '../http/content-coding.ts';
import { standingLookup } from '../interrupts/standing.ts';
import { requireForms, requireKnown } from '../known-options.ts';
import { AUDIT_DEFAULTS, type AuditOptions } from '../options/audit-options.ts';
import { DEFAULT_MAX_REQUEST_BODY_BYTES } from '../options/body-limits.ts';
import type { DebugBundleKeys } from '../options/debug-bundle-keys.ts';
import type { PortalOptions } from '../options/portal-options.ts';
import { DEFAULT_PROTOCOL } from '../options/protocol-default.ts';
import { STREAM_DEFAULTS, type StreamOptions } from '../options/stream-options.ts';
import { TRIGGER_DEFAULTS, type TriggerOptions } from '../options/trigger-options.ts';
import { type WebhookOptions, webhookOptions } from '../options/webhook-options.ts';
import { WORKSPACE_FILE_DEFAULTS } from '../options/workspace-file-defaults.ts';
import type { HostOptions } from '../options.ts';
import type { StandingOf } from '../ports/approvers.ts';
import type { CheckpointSink } from '../ports/checkpoint-sink.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import type { VersionedEngine } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';
import { type Random, systemRandom } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import { type StoreClock, storeClock } from '../ports/store-clock.ts';
import { wrapEngine } from '../ports/wrap-engine.ts';
import { withCanonicalLogs } from '../runs/canonical-log.ts';
import { type SecretBox, secretBox } from '../sealing/secret-box.ts';
import { secretKeyBytes } from '../sealing/secret-key.ts';
import { standardErrorLog } from '../standard-error-log.ts';
import { tracedLog } from '../telemetry/spans.ts';
import { type Telemetry, telemetry } from '../telemetry/telemetry.ts';
import { VERSION } from '../version.ts';
import { type UseCounter, useCounter } from '../versions/use-counter.ts';
import type { CaptureRules } from '../webhooks/capture.ts';
import type { WorkspaceFileLimits } from '../workspace/files.ts';
import { captureRules } from './capture-rules.ts';
import { knownWorkspace } from './known-workspace.ts';
import { type Mirror, mirrorOf } from './mirror.ts';
import { engineForms, HOST_OPTION_FORMS } from './option-forms.ts';
import { HOST_OPTION_NAMES } from './option-names.ts';
import { type Retention, retentionOf } from './retention.ts';

/** The options of a host with every default applied, and the services that are made of the options alone. */
export interface Services
  extends Omit<
    HostOptions,
    | 'engine'
    | 'secretKey'
    | 'formerSecretKeys'
    | 'hasWorkspace'
    | 'workspaceFiles'
    | 'triggers'
    | 'portal'
    | 'audit'
    | 'telemetry'
    | 'debugBundles'
    | 'retention'
  > {
  readonly clock: Clock;
  /** Due times and leases go by it. */
  readonly storeClock: StoreClock;
  readonly random: Random;
  /** The log of the options, or standard error, guarded against floods. */
  readonly log: Log;
  readonly floodGuard: FloodGuard;
  readonly observe: Telemetry;
  /** The store of the options. Its transactions are measured. */
  readonly store: Store;
  readonly engine: VersionedEngine;
  readonly hasWorkspace: NonNullable<HostOptions['hasWorkspace']>;
  readonly secrets: SecretBox;
  readonly secretKey: Uint8Array;
  readonly formerSecretKeys: readonly Uint8Array[];
  readonly served: Served;
  readonly org: string;
  readonly implementation: NonNullable<HostOptions['implementation']>;
  /** The credentials that the lanes accept. */
  readonly authentication: AdvertisedAuthentication;
  readonly egress: EgressPolicy;
  readonly webhooks: WebhookOptions;
  /** Undefined: no answer of a receiver is captured. */
  readonly captureRules: CaptureRules | undefined;
  readonly streams: StreamOptions;
  readonly workspaceFiles: WorkspaceFileLimits | undefined;
  /** Undefined: triggers are not served. */
  readonly triggers: TriggerOptions | undefined;
  /** Undefined: the portal is not served. */
  readonly portal: Required<PortalOptions> | undefined;
  /** Undefined: no read is compared between the majors. */
  readonly mirror: Mirror | undefined;
  /** Counts the callers of each major. */
  readonly versionUses: UseCounter;
  readonly idempotencyRetentionHours: number;
  readonly retention: Retention;
  readonly contentEncodings: readonly Coding[];
  readonly maxRequestBodyBytes: number;
  readonly audit: AuditLog | undefined;
  readonly recordAudit: RecordAudit;
  readonly debugBundles: BundleKeys | undefined;
  readonly runLimits: RunLimits;
  /** Looks up groups and roles of approvers. Undefined: the host has no directory of them. */
  readonly standingOf: StandingOf | undefined;
  /** The fetch of runs. */
  readonly runFetch: GuardedFetch;
}

/** The recorder, the keys and the intervals of an audit log. */
export interface AuditLog {
  readonly recorder: AuditRecorder;
  readonly signer: CheckpointSigner;
  /** The name of the log in its notes. */
  readonly origin: string;
  /** The key of the signer first. */
  readonly publicKeys: readonly string[];
  /** Undefined: checkpoints are stored in the store alone. */
  readonly sink: CheckpointSink | undefined;
  readonly intervalEntries: number;
  readonly intervalSeconds: number;
}

/** The signer of debug bundles, and the keys that discovery names. */
export interface BundleKeys {
  readonly signer: BundleSigner;
  readonly signingKeys: NonNullable<HostCapabilities['signingKeys']>;
}

/**
 * Applies the defaults.
 *
 * @throws {TypeError} for unknown and missing options, for options of a wrong form, and for options that contradict the interface
 */
export function servicesOf(options: HostOptions): Services {
  requireKnown('createHost', options, HOST_OPTION_NAMES);
  requireForms('createHost', options, HOST_OPTION_FORMS);
  requireForms('createHost', options, engineForms(options.engine));
  const { random = systemRandom, idempotencyRetentionHours = 24 } = options;
  const secretKey = secretKeyBytes('secretKey', options.secretKey);
  const formerSecretKeys = (options.formerSecretKeys ?? []).map((former, index) =>
    secretKeyBytes(`formerSecretKeys[${index}]`, former),
  );
  const clock = checkedClock(options.clock);
  const guard = options.log === undefined ? standardErrorLog(clock) : floodGuard(options.log, clock);
  const log = tracedLog(guard.log);
  const ofStore = storeClock({ clock, store: options.store, log });
  const observe = telemetry(options.telemetry ?? {}, { version: VERSION, storeClock: ofStore });
  const served = servedVersions(options.protocol ?? DEFAULT_PROTOCOL);
  const store = withCanonicalLogs(observe.timed(options.store));
  const audit = options.audit && auditLog(options.audit, originFor(options), { clock, random, log, observe, store });
  const egress = options.egress ?? egressPolicy();
  return {
    ...options,
    clock,
    storeClock: ofStore,
    random,
    log,
    floodGuard: guard,
    observe,
    store,
    engine: wrapEngine(options.engine),
    hasWorkspace: knownWorkspace(options.hasWorkspace ?? everyWorkspace, log),
    secrets: secretBox(secretKey, random, formerSecretKeys),
    secretKey,
    formerSecretKeys,
    served,
    org: checkVendorOrg(options.org ?? 'example'),
    implementation: options.implementation ?? { name: '@svc/host-kit', version: VERSION, vendor: 'svc' },
    authentication: advertisedBy(options.authenticate),
    egress,
    webhooks: webhookOptions(options.webhooks),
    captureRules: captureRules(options),
    streams: streamOptions(options),
    workspaceFiles: options.workspaceFiles && { ...WORKSPACE_FILE_DEFAULTS, ...options.workspaceFiles },
    triggers: options.triggers && triggerOptions(options.triggers, options.baseUrl),
    portal: options.portal && portalOptions(options.portal),
    mirror: options.mirrorReads && mirrorOf(options.mirrorReads, { served, observer: observe.mirror, random, clock }),
    versionUses: useCounter({ store, clock, storeClock: ofStore, log, counted: observe.versionUsed }),
    idempotencyRetentionHours,
    retention: retentionOf(options, idempotencyRetentionHours),
    contentEncodings: options.contentEncodings ?? CODINGS,
    maxRequestBodyBytes: options.maxRequestBodyBytes ?? DEFAULT_MAX_REQUEST_BODY_BYTES,
    audit,
    debugBundles: options.debugBundles && bundleKeys(options.debugBundles),
    recordAudit: async (fact, transaction) => audit?.recorder.record(fact, transaction),
    runLimits: runLimits(options.capabilities?.limits),
    standingOf: options.approvers && standingLookup(options.approvers, { clock, log }),
    runFetch: options.fetch ?? guardedFetch({ policy: egress, ...fetchLimits(options) }),
  };
}

/** A credential names its workspaces, and the host has been told of no others. */
function everyWorkspace(): boolean {
  return true;
}

/** @throws {TypeError} for a clock without one of its functions: it may be written in JavaScript */
function checkedClock(clock: Clock = systemClock): Clock {
  for (const name of ['now', 'monotonic', 'after'] as const) {
    if (typeof clock[name] === 'function') continue;
    throw new TypeError(
      `clock.${name}: must be a function. Pass systemClock, or an object with now, monotonic and after.`,
    );
  }
  return clock;
}

/** The limits that discovery advertises for the `httpClient` of runs. */
function fetchLimits({ capabilities }: HostOptions): Pick<GuardedFetchOptions, 'maxResponseBytes' | 'timeoutMs'> {
  const { maxResponseBodyBytes, requestTimeoutMs } = capabilities?.families?.httpClient ?? {};
  return {
    maxResponseBytes: maxResponseBodyBytes ?? LIMIT_VALUES['httpClient.maxResponseBodyBytes'],
    timeoutMs: requestTimeoutMs ?? LIMIT_VALUES['httpClient.requestTimeoutMs'],
  };
}

/** The name of the audit log in its notes. @throws {TypeError} for a name that a note cannot have */
function originFor({ audit, baseUrl, org = 'example' }: HostOptions): string {
  const { host, pathname } = new URL(baseUrl ?? 'https://svc.invalid');
  return checkedOrigin(audit?.origin ?? `${host}${pathname.replace(/\/+$/, '')}/host/${org}/audit`);
}

function auditLog(
  options: AuditOptions,
  origin: string,
  { observe, ...ports }: Pick<Services, 'clock' | 'random' | 'log' | 'observe' | 'store'>,
): AuditLog {
  const { signer, formerPublicKeys = [] } = options;
  const intervalEntries = options.checkpointIntervalEntries ?? AUDIT_DEFAULTS.entries;
  const intervalSeconds = options.checkpointIntervalSeconds ?? AUDIT_DEFAULTS.seconds;
  const publicKeys = [signer.publicKey, ...formerPublicKeys];
  const { checkpointSink: sink, witness } = options;
  const sealing = { signer, publicKeys, origin, sink, witness, intervalEntries, intervalSeconds };
  return {
    recorder: auditRecorder({ ...ports, observer: observe.audit, ...sealing }),
    signer,
    origin,
    publicKeys,
    sink: options.checkpointSink,
    intervalEntries,
    intervalSeconds,
  };
}

function bundleKeys({ signer, keyId, formerKeys = [] }: DebugBundleKeys): BundleKeys {
  const bundles = bundleSigner(signer, keyId);
  const { keyId: id, alg, publicKey } = bundles.key;
  const former = formerKeys.map(({ keyId, publicKey, retiredAt }) => ({
    ...{ keyId, alg: 'ed25519' as const, publicKey },
    ...(retiredAt !== undefined && { retiredAt }),
  }));
  const all = [{ keyId: id, alg, publicKey }, ...former];
  if (new Set(all.map((key) => key.keyId)).size < all.length)
    throw new TypeError('debugBundles: two keys have the same keyId. Give each key an id of its own.');
  return { signer: bundles, signingKeys: all.map((key) => ({ ...key, use: 'certification-bundle' as const })) };
}

function streamOptions({ streams }: HostOptions): StreamOptions {
  return { ...STREAM_DEFAULTS, ...streams };
}

/** @throws {TypeError} without the origin that senders post to */
function triggerOptions(given: Partial<TriggerOptions>, baseUrl: string | undefined): TriggerOptions {
  const chosen = { ...TRIGGER_DEFAULTS, ...given };
  if (baseUrl === undefined)
    throw new TypeError(
      'baseUrl: is required by triggers, whose senders post to it. Pass the public origin of the host.',
    );
  return chosen;
}

/** @throws {TypeError} for an address that is no page, and for a bound that is none */
function portalOptions({ pageUrl, maxOpenPerTenant = 1000 }: PortalOptions): Required<PortalOptions> {
  if (!URL.canParse(pageUrl) || !/^https?:\/\/[^?#]+$/.test(pageUrl))
    throw new TypeError(
      'portal.pageUrl: must be an address without query and fragment. Pass one such as https://svc.example.com/portal/.',
    );
  if (!(Number.isSafeInteger(maxOpenPerTenant) && maxOpenPerTenant >= 1))
    throw new TypeError('portal.maxOpenPerTenant: must be a whole number, at least 1. Leave it out for 1000.');
  return { pageUrl, maxOpenPerTenant };
}
