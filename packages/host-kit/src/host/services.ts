import type { CheckpointSigner } from '@svc/auth/audit';
import { type EgressPolicy, egressPolicy } from '@svc/egress-guard';
import { type GuardedFetch, type GuardedFetchOptions, guardedFetch } from '@svc/egress-guard/fetch';
import { checkVendorOrg, type Served, served as servedVersions } from '@svc/versioning';
import type { RecordAudit } from '../audit/fact.ts';
import { type AuditRecorder, auditRecorder } from '../audit/recorder.ts';
import { LIMIT_VALUES } from '../discovery/limit-values.ts';
import { runLimits } from '../discovery/limits.ts';
import type { RunLimits } from '../execution/limits.ts';
import { CODINGS, type Coding } from '../http/content-coding.ts';
import { requireKnown } from '../known-options.ts';
import {
  AUDIT_DEFAULTS,
  type AuditOptions,
  DEFAULT_MAX_REQUEST_BODY_BYTES,
  DEFAULT_PROTOCOL,
  type HostOptions,
  LONGEST_SILENCE_MS,
  STREAM_DEFAULTS,
  type StreamOptions,
  WEBHOOK_DEFAULTS,
  type WebhookOptions,
  WORKSPACE_FILE_DEFAULTS,
} from '../options.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { type Random, systemRandom } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import { withCanonicalLogs } from '../runs/canonical-log.ts';
import { type SecretBox, secretBox } from '../sealing/secret-box.ts';
import { tracedLog } from '../telemetry/spans.ts';
import { type Telemetry, telemetry } from '../telemetry/telemetry.ts';
import { VERSION } from '../version.ts';
import type { WorkspaceFileLimits } from '../workspace/files.ts';
import { HOST_OPTION_NAMES } from './option-names.ts';

/** The options of a host with every default applied, and the services that are made of the options alone. */
export interface Services extends Omit<HostOptions, 'workspaceFiles' | 'audit' | 'telemetry'> {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observe: Telemetry;
  /** The store of the options. Its transactions are measured. */
  readonly store: Store;
  readonly secrets: SecretBox;
  readonly formerSecretKeys: readonly Uint8Array[];
  readonly served: Served;
  readonly org: string;
  readonly implementation: NonNullable<HostOptions['implementation']>;
  readonly authentication: NonNullable<HostOptions['authentication']>;
  readonly egress: EgressPolicy;
  readonly webhooks: WebhookOptions;
  readonly streams: StreamOptions;
  readonly workspaceFiles: WorkspaceFileLimits | undefined;
  readonly idempotencyRetentionHours: number;
  readonly contentEncodings: readonly Coding[];
  readonly maxRequestBodyBytes: number;
  readonly audit: AuditLog | undefined;
  readonly recordAudit: RecordAudit;
  readonly runLimits: RunLimits;
  /** The fetch of runs. */
  readonly runFetch: GuardedFetch;
}

/** The recorder, the keys and the intervals of an audit log. */
export interface AuditLog {
  readonly recorder: AuditRecorder;
  readonly signer: CheckpointSigner;
  /** The key of the signer first. */
  readonly publicKeys: readonly string[];
  readonly intervalEntries: number;
  readonly intervalSeconds: number;
}

/**
 * Applies the defaults.
 *
 * @throws {TypeError} for unknown options, and for options that contradict the interface
 */
export function servicesOf(options: HostOptions): Services {
  requireKnown('createHost', options, HOST_OPTION_NAMES);
  const { clock = systemClock, random = systemRandom, formerSecretKeys = [] } = options;
  const log = tracedLog(options.log ?? (() => {}));
  const observe = telemetry(options.telemetry ?? {}, { version: VERSION, clock });
  const store = withCanonicalLogs(observe.timed(options.store));
  const audit = options.audit && auditLog(options.audit, { clock, random, log, observe, store });
  const egress = options.egress ?? egressPolicy();
  return {
    ...options,
    clock,
    random,
    log,
    observe,
    store,
    secrets: secretBox(options.secretKey, random, formerSecretKeys),
    formerSecretKeys,
    served: servedVersions(options.protocol ?? DEFAULT_PROTOCOL),
    org: checkVendorOrg(options.org ?? 'example'),
    implementation: options.implementation ?? { name: '@svc/host-kit', version: VERSION, vendor: 'svc' },
    authentication: options.authentication ?? {},
    egress,
    webhooks: { ...WEBHOOK_DEFAULTS, ...options.webhooks },
    streams: streamOptions(options),
    workspaceFiles: options.workspaceFiles && { ...WORKSPACE_FILE_DEFAULTS, ...options.workspaceFiles },
    idempotencyRetentionHours: idempotencyRetention(options),
    contentEncodings: options.contentEncodings ?? CODINGS,
    maxRequestBodyBytes: options.maxRequestBodyBytes ?? DEFAULT_MAX_REQUEST_BODY_BYTES,
    audit,
    recordAudit: async (fact, transaction) => audit?.recorder.record(fact, transaction),
    runLimits: runLimits(options.capabilities?.limits),
    runFetch: options.fetch ?? guardedFetch({ policy: egress, ...fetchLimits(options) }),
  };
}

/** The limits that discovery advertises for the `httpClient` of runs. */
function fetchLimits({ capabilities }: HostOptions): Pick<GuardedFetchOptions, 'maxResponseBytes' | 'timeoutMs'> {
  const { maxResponseBodyBytes, requestTimeoutMs } = capabilities?.families?.httpClient ?? {};
  return {
    maxResponseBytes: maxResponseBodyBytes ?? LIMIT_VALUES['httpClient.maxResponseBodyBytes'],
    timeoutMs: requestTimeoutMs ?? LIMIT_VALUES['httpClient.requestTimeoutMs'],
  };
}

function auditLog(
  options: AuditOptions,
  { observe, ...ports }: Pick<Services, 'clock' | 'random' | 'log' | 'observe' | 'store'>,
): AuditLog {
  const { signer, formerPublicKeys = [] } = options;
  const intervalEntries = options.checkpointIntervalEntries ?? AUDIT_DEFAULTS.entries;
  const intervalSeconds = options.checkpointIntervalSeconds ?? AUDIT_DEFAULTS.seconds;
  return {
    recorder: auditRecorder({ ...ports, observer: observe.audit, signer, intervalEntries, intervalSeconds }),
    signer,
    publicKeys: [signer.publicKey, ...formerPublicKeys],
    intervalEntries,
    intervalSeconds,
  };
}

function streamOptions({ streams }: HostOptions): StreamOptions {
  const chosen = { ...STREAM_DEFAULTS, ...streams };
  if (chosen.keepAliveMs > LONGEST_SILENCE_MS) {
    throw new TypeError(`streams.keepAliveMs: must be at most ${LONGEST_SILENCE_MS}. Leave it out for 15000.`);
  }
  return chosen;
}

/** @see Interface: Limits */
function idempotencyRetention({ idempotencyRetentionHours = 24 }: HostOptions): number {
  if (idempotencyRetentionHours >= 24) return idempotencyRetentionHours;
  throw new TypeError('idempotencyRetentionHours: must be at least 24. Leave it out for 24.');
}
