import type { CheckpointSigner } from '@svc/auth/audit';
import { checkedOrigin } from '@svc/auth/audit-tree';
import { type EgressPolicy, egressPolicy } from '@svc/egress-guard';
import { type GuardedFetch, type GuardedFetchOptions, guardedFetch } from '@svc/egress-guard/fetch';
import { checkVendorOrg, type Retirement, type Served, served as servedVersions } from '@svc/versioning';
import type { RecordAudit } from '../audit/fact.ts';
import { type AuditRecorder, auditRecorder } from '../audit/recorder.ts';
import { type BundleSigner, bundleSigner } from '../debug-bundle/sign.ts';
import { type AdvertisedAuthentication, advertisedBy } from '../discovery/authentication.ts';
import type { DiscoveryOptions } from '../discovery/discovery-options.ts';
import { LIMIT_VALUES } from '../discovery/limit-values.ts';
import { runLimits } from '../discovery/limits.ts';
import type { RunLimits } from '../execution/limits.ts';
import { type FloodGuard, floodGuard } from '../flood-guard.ts';
import { CODINGS, type Coding } from '../http/content-coding.ts';
import { standingLookup } from '../interrupts/standing.ts';
import { requireForms, requireKnown } from '../known-options.ts';
import type { MountDefinition } from '../mounts/mount.ts';
import { AUDIT_DEFAULTS, type AuditOptions } from '../options/audit-options.ts';
import type { AuthorizationOptions } from '../options/authorization-options.ts';
import { DEFAULT_MAX_REQUEST_BODY_BYTES } from '../options/body-limits.ts';
import type { DebugBundleKeys } from '../options/debug-bundle-keys.ts';
import type { FeatureOptions } from '../options/feature-options.ts';
import type { HttpOptions } from '../options/http-options.ts';
import type { PortalOptions } from '../options/portal-options.ts';
import { servedOptions } from '../options/protocol-options.ts';
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
import type { Transport } from '../ports/transport.ts';
import { wrapEngine } from '../ports/wrap-engine.ts';
import { type SecretBox, secretBox } from '../sealing/secret-box.ts';
import { secretKeyring } from '../sealing/secret-key.ts';
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

/** The options of a host without their groups, with every default applied, and the services that are made of them alone. */
export interface Services
  extends Pick<HostOptions, 'authenticate'>,
    Omit<AuthorizationOptions, 'hasWorkspace'>,
    Pick<HttpOptions, 'rateLimit' | 'refusals' | 'cors'>,
    Pick<FeatureOptions, 'apiKeys' | 'access' | 'workspaceDiscovery'> {
  readonly baseUrl: string | undefined;
  readonly mounts: readonly MountDefinition[];
  /** Undefined: major 1 is not retiring. */
  readonly retirement: Retirement | undefined;
  /** Undefined: the guarded POST. */
  readonly transport: Transport | undefined;
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
  readonly hasWorkspace: NonNullable<AuthorizationOptions['hasWorkspace']>;
  readonly secrets: SecretBox;
  readonly secretKey: Uint8Array;
  readonly formerSecretKeys: readonly Uint8Array[];
  readonly served: Served;
  readonly org: string;
  readonly implementation: NonNullable<DiscoveryOptions['implementation']>;
  /** Facts and capabilities that the options declare for discovery. */
  readonly declared: DiscoveryOptions;
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
  readonly signingKeys: NonNullable<DiscoveryOptions['signingKeys']>;
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
  const { authenticate, baseUrl, mounts = [], protocol = {}, authorization = {}, http = {}, features = {} } = options;
  const { discovery = {}, ports = {} } = options;
  const { random = systemRandom } = ports;
  const { current: secretKey, former: formerSecretKeys } = secretKeyring(options.secretKey);
  const clock = checkedClock(ports.clock);
  const guard = ports.log === undefined ? standardErrorLog(clock) : floodGuard(ports.log, clock);
  const log = tracedLog(guard.log);
  const ofStore = storeClock({ clock, store: options.store, log });
  const observe = telemetry(ports.telemetry ?? {}, { version: VERSION, storeClock: ofStore });
  const served = servedVersions(servedOptions(protocol));
  const store = observe.timed(options.store);
  const audit = options.audit && auditLog(options.audit, originFor(options), { clock, random, log, observe, store });
  const egress = options.egress ?? egressPolicy();
  return {
    authenticate,
    baseUrl,
    mounts,
    ...authorization,
    ...http,
    ...features,
    retirement: protocol.retirement,
    transport: ports.transport,
    clock,
    storeClock: ofStore,
    random,
    log,
    floodGuard: guard,
    observe,
    store,
    engine: wrapEngine(options.engine),
    hasWorkspace: knownWorkspace(authorization.hasWorkspace ?? everyWorkspace, log),
    secrets: secretBox(secretKey, random, formerSecretKeys),
    secretKey,
    formerSecretKeys,
    served,
    org: checkVendorOrg(options.org ?? 'example'),
    implementation: discovery.implementation ?? { name: '@svc/host-kit', version: VERSION, vendor: 'svc' },
    declared: discovery,
    authentication: advertisedBy(authenticate),
    egress,
    webhooks: webhookOptions(options.webhooks),
    captureRules: captureRules(options),
    streams: { ...STREAM_DEFAULTS, ...http.streams },
    workspaceFiles: features.workspaceFiles && { ...WORKSPACE_FILE_DEFAULTS, ...features.workspaceFiles },
    triggers: features.triggers && triggerOptions(features.triggers, baseUrl),
    portal: features.portal && portalOptions(features.portal),
    mirror: protocol.mirrorReads && mirrorOf(protocol.mirrorReads, { served, observer: observe.mirror, random, clock }),
    versionUses: useCounter({ store, clock, storeClock: ofStore, log, counted: observe.versionUsed }),
    retention: retentionOf(options),
    contentEncodings: http.contentEncodings ?? CODINGS,
    maxRequestBodyBytes: http.maxRequestBodyBytes ?? DEFAULT_MAX_REQUEST_BODY_BYTES,
    audit,
    debugBundles: features.debugBundles && bundleKeys(features.debugBundles),
    recordAudit: async (fact, transaction) => audit?.recorder.record(fact, transaction),
    runLimits: runLimits(discovery.limits),
    standingOf: authorization.approvers && standingLookup(authorization.approvers, { clock, log }),
    runFetch: ports.fetch ?? guardedFetch({ policy: egress, ...fetchLimits(discovery) }),
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
      `ports.clock.${name}: must be a function. Pass systemClock, or an object with now, monotonic and after.`,
    );
  }
  return clock;
}

/** The limits that discovery advertises for the `httpClient` of runs. */
function fetchLimits({ families }: DiscoveryOptions): Pick<GuardedFetchOptions, 'maxResponseBytes' | 'timeoutMs'> {
  const { maxResponseBodyBytes, requestTimeoutMs } = families?.httpClient ?? {};
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
    throw new TypeError('features.debugBundles: two keys have the same keyId. Give each key an id of its own.');
  return { signer: bundles, signingKeys: all.map((key) => ({ ...key, use: 'certification-bundle' as const })) };
}

/** @throws {TypeError} without the origin that senders post to */
function triggerOptions(given: Partial<TriggerOptions>, baseUrl: string | undefined): TriggerOptions {
  const chosen = { ...TRIGGER_DEFAULTS, ...given };
  if (baseUrl === undefined)
    throw new TypeError(
      'baseUrl: is required by features.triggers, whose senders post to it. Pass the public origin of the host.',
    );
  return chosen;
}

/** @throws {TypeError} for an address that is no page, and for a bound that is none */
function portalOptions({ pageUrl, maxOpenPerTenant = 1000 }: PortalOptions): Required<PortalOptions> {
  if (!URL.canParse(pageUrl) || !/^https?:\/\/[^?#]+$/.test(pageUrl))
    throw new TypeError(
      'features.portal.pageUrl: must be an address without query and fragment. Pass one such as https://svc.example.com/portal/.',
    );
  if (!(Number.isSafeInteger(maxOpenPerTenant) && maxOpenPerTenant >= 1))
    throw new TypeError('features.portal.maxOpenPerTenant: must be a whole number, at least 1. Leave it out for 1000.');
  return { pageUrl, maxOpenPerTenant };
}
