import type { z } from 'zod';
import type { retention } from './config-retention.ts';
import type { webhooks } from './config-webhooks.ts';

/** The part of the configuration whose keys can contradict each other. */
interface Contradictable {
  readonly webhooks: z.infer<typeof webhooks>;
  readonly streams: {
    readonly places: { readonly total: number; readonly perRun: number; readonly perCredential: number };
  };
  readonly workspaceFiles: { readonly enabled: boolean; readonly maxFileBytes: number };
  readonly limits: { readonly maxRequestBodyBytes: number };
  readonly secretKey?: string | undefined;
  readonly formerSecretKeys: readonly string[];
  readonly protocol: {
    readonly versions: readonly string[];
    readonly preferred?: string | undefined;
    readonly minClientVersion?: string | undefined;
    readonly mirror?: object | undefined;
  };
  readonly retention: z.infer<typeof retention>;
  readonly audit: { readonly checkpointFile: string | null };
  readonly egress: { readonly allowCidrs: readonly string[]; readonly denyCidrs: readonly string[] };
}

/** Reports a problem with the key at a path. */
export type Report = (path: readonly (string | number)[], message: string) => void;

/**
 * Reports keys that contradict each other. A default contradicts nothing: a key is reported only when the file has it.
 *
 * @param json the configuration as the file has it, without defaults
 */
export function checkContradictions(config: Contradictable, json: unknown, report: Report): void {
  const reportGiven: Report = (path, message) => {
    if (isGiven(json, path)) report(path, message);
  };
  for (const check of [concurrency, retryPolicy, readers, sizes, secretKeys, versions, retentionTimes, cidrs]) {
    check(config, reportGiven);
  }
}

function isGiven(json: unknown, path: readonly (string | number)[]): boolean {
  let value = json;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return false;
    value = Reflect.get(value, step);
  }
  return true;
}

function concurrency({ webhooks }: Contradictable, report: Report): void {
  const { total, perSubscription } = webhooks.concurrency;
  if (perSubscription <= total) return;
  report(
    ['webhooks', 'concurrency', 'perSubscription'],
    'is more than webhooks.concurrency.total. Set it to that number at most.',
  );
}

function retryPolicy({ webhooks }: Contradictable, report: Report): void {
  const { backoff, delayMs, maxDelayMs } = webhooks.retryPolicy;
  if (backoff === 'none' || delayMs <= maxDelayMs) return;
  report(
    ['webhooks', 'retryPolicy', 'delayMs'],
    `is more than webhooks.retryPolicy.maxDelayMs, ${maxDelayMs}. Lower it, or raise maxDelayMs.`,
  );
}

function readers({ streams }: Contradictable, report: Report): void {
  const { total, perRun, perCredential } = streams.places;
  for (const [key, value] of Object.entries({ perRun, perCredential })) {
    if (value > total)
      report(['streams', 'places', key], 'is more than streams.places.total. Set it to that number at most.');
  }
}

function sizes({ workspaceFiles, limits }: Contradictable, report: Report): void {
  if (workspaceFiles.maxFileBytes <= limits.maxRequestBodyBytes) return;
  const message = `is more than limits.maxRequestBodyBytes, ${limits.maxRequestBodyBytes}: no request can bring such a file. Lower it, or raise that limit.`;
  if (!workspaceFiles.enabled) return;
  report(['workspaceFiles', 'maxFileBytes'], message);
}

function secretKeys({ secretKey, formerSecretKeys }: Contradictable, report: Report): void {
  for (const [index, key] of formerSecretKeys.entries()) {
    if (key === secretKey)
      report(['formerSecretKeys', index], 'is the current secretKey. Remove it, or set secretKey to the new key.');
    else if (formerSecretKeys.indexOf(key) < index)
      report(['formerSecretKeys', index], 'is there twice. Remove one of them.');
  }
}

function versions({ protocol }: Contradictable, report: Report): void {
  const { versions: served, preferred, minClientVersion, mirror } = protocol;
  for (const [index, version] of served.entries()) {
    if (served.indexOf(version) < index) report(['protocol', 'versions', index], 'is there twice. Remove one of them.');
  }
  if (preferred !== undefined && !served.includes(preferred)) {
    report(['protocol', 'preferred'], 'must be one of protocol.versions. Add it there, or choose one of them.');
  }
  if (preferred?.startsWith('1.') === false && served.some((version) => version.startsWith('1.'))) {
    report(['protocol', 'preferred'], 'must be a 1.x version while one is served. Choose one of them.');
  }
  const majors = new Set(served.map((version) => version.split('.')[0]));
  if (mirror !== undefined && majors.size < 2) {
    report(['protocol', 'mirror'], 'needs both majors in protocol.versions. Add one, or remove mirror.');
  }
  if (minClientVersion !== undefined && served.every((version) => isOlder(version, minClientVersion))) {
    report(
      ['protocol', 'minClientVersion'],
      'is above every one of protocol.versions: each client would be rejected. Lower it.',
    );
  }
}

/** The numbers may be longer than a double holds. */
function isOlder(version: string, than: string): boolean {
  const [major = 0n, minor = 0n] = version.split('.').map(BigInt);
  const [thanMajor = 0n, thanMinor = 0n] = than.split('.').map(BigInt);
  return major === thanMajor ? minor < thanMinor : major < thanMajor;
}

function retentionTimes({ retention: times, audit }: Contradictable, report: Report): void {
  const { runDays, auditDays, idempotencyDays } = times;
  if (runDays !== undefined && runDays < idempotencyDays)
    report(
      ['retention', 'runDays'],
      'is less than retention.idempotencyDays: stored replies would name removed runs. Raise it.',
    );
  if (auditDays !== undefined && audit.checkpointFile === null)
    report(
      ['retention', 'auditDays'],
      'needs audit.checkpointFile: entries are removed only up to a checkpoint of that file. Set it, or remove this key.',
    );
}

function cidrs({ egress }: Contradictable, report: Report): void {
  for (const [index, block] of egress.allowCidrs.entries()) {
    if (egress.denyCidrs.includes(block))
      report(['egress', 'allowCidrs', index], 'is in egress.denyCidrs, too. Remove one of them.');
  }
}
