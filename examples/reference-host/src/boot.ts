import type { RequestListener, Server } from 'node:http';
import { stepUp } from '@svc/auth';
import { type CheckpointWitness, witness } from '@svc/auth/audit-tree';
import { egressPolicy } from '@svc/egress-guard';
import { type GuardedFetchOptions, guardedFetch } from '@svc/egress-guard/fetch';
import {
  checkpointFile,
  createHost,
  type Host,
  type Log,
  type SignInRule,
  type Store,
  storedAccess,
  storedKeys,
  VERSION,
  type WorkflowEngine,
} from '@svc/host-kit';
import { answerParserErrors, hostServer, orderlyStop, toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { CONFORMANCE_FIXTURES } from '@svc/host-kit/testing/conformance';
import { approverDirectory } from './approver-directory.ts';
import { type AuditKeys, auditKeys } from './audit-signer.ts';
import { authentication } from './authentication.ts';
import { tellHeld } from './backup/held-deliveries.ts';
import { bundleKeys } from './bundle-keys.ts';
import { type CallerRecords, callerRecords } from './caller-records.ts';
import type { Config } from './config.ts';
import { configuredChanges } from './configured-changes.ts';
import { configuredEmail } from './configured-email.ts';
import { type ConfiguredEngine, configuredEngine } from './configured-engine.ts';
import { configuredFile } from './configured-file.ts';
import { configuredKeys } from './configured-keys.ts';
import { configuredQueues } from './configured-queues.ts';
import { configuredRoles } from './configured-roles.ts';
import { configuredWorkloads } from './configured-workloads.ts';
import { logouts } from './logouts.ts';
import { mounts } from './mounts.ts';
import { secretKey } from './secret-key.ts';
import { portalOptions, withPages } from './with-pages.ts';

/** A host that is listening. */
export interface Running {
  readonly url: string;
  /** Stops accepting, lets requests and attempts finish, and closes the store. */
  stop(): Promise<void>;
  /** The longest duration of `stop`, in ms. */
  readonly stopWithinMs: number;
  /** Resolves with the cause when only a restart of the process can help. */
  readonly lost: Promise<Error>;
}

/** Assembles the host that a configuration describes, and starts it. */
export async function boot(config: Config, log: Log): Promise<Running> {
  if (config.egress.allowLoopback !== false) {
    const message =
      'egress.allowLoopback is set: subscriptions may point at this machine. Do not set it where strangers register.';
    log({ level: 'warn', event: 'egress.loopback-open', message });
  }
  if (config.rateLimit === undefined) {
    const message = 'rateLimit is not configured, so requests with a valid credential are not limited.';
    log({ level: 'warn', event: 'rate-limit.off', message });
  }
  // Before the store is opened: a key file is made with a new database only.
  const keys = await hostKeys(config);
  const store = await openStore(config.store, log);
  const notYet: RequestListener = (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end();
  let listener = notYet;
  const { maxConnections, keepAliveTimeoutMs } = config.listen;
  const server = hostServer((request, response) => listener(request, response), {
    ...(maxConnections !== undefined && { maxConnections }),
    keepAliveTimeoutMs,
    log,
  });
  let host: Host | undefined;
  let records: CallerRecords | undefined;
  let engine: ConfiguredEngine | undefined;
  const stop = orderlyStop(
    server,
    {
      drain: () => host?.drain(),
      closeStreams: () => host?.closeStreams(),
      async stop(graceMs) {
        await host?.stop(graceMs);
        await records?.close();
        await engine?.close();
      },
    },
    { drainMs: config.shutdown.drainMs, graceMs: config.shutdown.graceMs },
  );
  let url: string;
  try {
    await tellHeld(config.store, log);
    // Listens before the host exists: with port 0 the URL is not known earlier, and tokens and proofs name it.
    url = await listen(server, config.listen);
    records = await callerRecords(config, log);
    engine = await configuredEngine(config, log);
    const parts = { store, engine: engine.engine, keys, records };
    host = await assemble(config, config.baseUrl?.replace(/\/$/, '') ?? url, parts, log);
    const serve = toNodeListener(await withPages(host, config));
    answerParserErrors(server, host);
    // Answers probes during the start, which continues the work of an earlier process and can take long.
    listener = (request, response) => (PROBE.test(request.url ?? '') ? serve : notYet)(request, response);
    await host.start();
    listener = serve;
  } catch (error) {
    server.close();
    await (host?.stop(0) ?? store.close());
    await records?.close();
    await engine?.close();
    throw error;
  }
  const { drainMs, graceMs } = config.shutdown;
  return { url, stopWithinMs: drainMs + 2 * graceMs + CLOSE_MS, lost: host.lost, stop };
}

const PROBE = /^\/host\/[^/]+\/(?:livez|readyz)(?:\?|$)/;

/** The time of a stop beside its waits: for the last audit facts and the end of the store, in ms. */
const CLOSE_MS = 1000;

/** The private keys of a host. */
export interface HostKeys {
  readonly secret: Uint8Array;
  readonly formerSecretKeys: readonly Uint8Array[];
  readonly audit: AuditKeys;
}

/** Reads the keys of a configuration, and makes those that are kept beside a new database. */
export async function hostKeys(config: Config): Promise<HostKeys> {
  const secret = secretKey(config);
  const formerSecretKeys = config.formerSecretKeys.map((text) => Buffer.from(text, 'base64'));
  return { secret, formerSecretKeys, audit: await auditKeys(config, secret, formerSecretKeys) };
}

/** The parts of a host that are opened before it. */
export interface OpenedParts {
  readonly store: Store;
  readonly engine: WorkflowEngine;
  readonly keys: HostKeys;
  readonly records: CallerRecords;
}

/** Assembles the host that a configuration describes, and starts nothing. */
export async function assemble(
  config: Config,
  baseUrl: string,
  { store, engine, keys, records }: OpenedParts,
  log: Log,
): Promise<Host> {
  const workspaces = new Map(config.tenants.map((tenant) => [tenant.id, new Set(tenant.workspaces)]));
  const { allowLoopback, denyCidrs, allowCidrs, caFile } = config.egress;
  const ca = caFile === null ? [] : [configuredFile('egress.caFile', caFile)];
  const egress = egressPolicy({ allowLoopback, denyCidrs, allowCidrs, ca });
  const { deadLetter, ...webhooks } = config.webhooks;
  const { places: readerLimits, ...streams } = config.streams;
  const { enabled, ...workspaceFiles } = config.workspaceFiles;
  const { versions, minClientVersion, retirement, mirror } = config.protocol;
  const { secret, formerSecretKeys } = keys;
  const apiKeys = storedKeys({ store, configured: configuredKeys(config) });
  const configured = configuredRoles(config);
  const workloads = configuredWorkloads(config);
  const access = storedAccess({
    store,
    ...(configured !== undefined && { roles: configured }),
    ...(workloads !== undefined && { workloads }),
  });
  const { directory, resolveWorkload } = access;
  const parts = { baseUrl, secret, keys: apiKeys, directory, resolveWorkload, records, now: Date.now, log };
  const { lanes, refusals, roles } = authentication(config, parts);
  const { checkpointIntervalEntries, checkpointIntervalSeconds, checkpointFile: copies, origin } = config.audit;
  const { maxRequestBodyBytes, ...limits } = config.limits;
  const { idempotencyDays, runDays, auditDays, ...kept } = config.retention;
  return createHost({
    store,
    authenticate: lanes,
    engine,
    secretKey: { current: secret, former: formerSecretKeys },
    baseUrl,
    org: config.org,
    protocol: {
      versions,
      preferred: config.protocol.preferred ?? defaultPreference(versions),
      minClientVersion,
      ...(mirror !== undefined && { mirrorReads: mirror }),
      ...(retirement !== undefined && { retirement: retirementOf(retirement) }),
    },
    authorization: {
      hasWorkspace: (tenant, workspace) => workspaces.get(tenant)?.has(workspace) ?? false,
      ...(roles !== undefined && { roles }),
      stepUp: signInRules(config),
      approvers: approverDirectory(config),
    },
    http: {
      refusals,
      ...(records.rateLimit !== undefined && { rateLimit: records.rateLimit }),
      maxRequestBodyBytes,
      ...(config.cors !== undefined && { cors: config.cors }),
      streams: { ...streams, readerLimits },
    },
    webhooks: { ...webhooks, deadLetterRetentionDays: deadLetter.retentionDays },
    egress,
    features: {
      apiKeys,
      access,
      ...portalOptions(config, baseUrl),
      ...(config.triggers !== undefined && { triggers: await configuredTriggers(config.triggers, log) }),
      ...(enabled && { workspaceFiles }),
      ...(config.workspaceDiscovery !== undefined && {
        workspaceDiscovery: {
          workspacesOf: (tenant) => [...(workspaces.get(tenant) ?? [])],
          familiesOf: (tenant, workspace) =>
            config.workspaceDiscovery?.find((view) => view.tenant === tenant && view.workspace === workspace)?.families,
        },
      }),
      debugBundles: await bundleKeys(config, secret, formerSecretKeys),
    },
    mounts: [...(await mounts(config)), ...logouts(config, { access, records, now: Date.now, log })],
    discovery: {
      implementation: { name: 'svc-reference-host', version: VERSION, vendor: config.org },
      fixtures: CONFORMANCE_FIXTURES,
      families: { httpClient: HTTP_CLIENT },
      limits,
      ...(config.contractProvenance !== null && { contractProvenance: config.contractProvenance }),
    },
    audit: {
      ...keys.audit,
      checkpointIntervalEntries,
      checkpointIntervalSeconds,
      ...(copies !== null && { checkpointSink: checkpointFile(copies) }),
      ...(origin !== undefined && { origin }),
      ...(config.audit.witness !== null && {
        witness: cosigner(config.audit.witness, { policy: egress }),
      }),
    },
    retention: {
      ...kept,
      ...(runDays !== undefined && { runDays }),
      ...(auditDays !== undefined && { auditDays }),
      replyHours: idempotencyDays * 24,
    },
    ports: { log, telemetry: config.telemetry },
  });
}

async function configuredTriggers({ queues, changes, email, ...triggers }: NonNullable<Config['triggers']>, log: Log) {
  return {
    ...triggers,
    ...{ queues: await configuredQueues(queues, log), changes: await configuredChanges(changes, log) },
    ...(email !== undefined && { email: await configuredEmail(email) }),
  };
}

/** The witness, reached through the guard: its URL cannot lead into the internal network. */
function cosigner(
  { url, key }: NonNullable<Config['audit']['witness']>,
  guard: GuardedFetchOptions,
): CheckpointWitness {
  return witness({ url, key, fetch: guardedFetch({ ...guard, maxResponseBytes: 16_384, timeoutMs: 10_000 }) });
}

/** The sign-in that operations need. */
function signInRules({ stepUp: rules }: Config): SignInRule[] {
  return rules.map(({ operations, scopes, acrValues, methods, maxAgeSeconds }) => {
    const required = {
      ...(acrValues !== undefined && { acrValues }),
      ...(methods !== undefined && { methods }),
      ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
    };
    return { operations, scopes, stepUp: stepUp(required) };
  });
}

function retirementOf({ deprecatedAt, sunsetAt, link }: NonNullable<Config['protocol']['retirement']>) {
  return {
    deprecatedAt: new Date(deprecatedAt),
    ...(sunsetAt !== undefined && { sunsetAt: new Date(sunsetAt) }),
    ...(link !== undefined && { link }),
  };
}

/** Returns the first 1.x, or the first version when the host serves no 1.x. */
function defaultPreference(versions: readonly string[]): string {
  return versions.find((version) => version.startsWith('1.')) ?? versions[0] ?? '';
}

async function openStore(location: string, log: Log): Promise<Store> {
  if (location === 'memory:') return memoryStore();
  if (location.startsWith('sqlite:')) return sqliteStore(location.slice('sqlite:'.length));
  const onError = (cause: unknown) => {
    log({
      level: 'error',
      event: 'store.connection-failed',
      error: cause instanceof Error ? cause.message : typeof cause,
    });
  };
  const { postgresStore } = await import('@svc/host-kit/stores/postgres');
  return await postgresStore({ url: location, onError });
}

function listen(server: Server, { host, port }: Config['listen']): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`);
    });
  });
}

/** The HTTP client of the `fetch` workflow, as discovery advertises it. */
const HTTP_CLIENT = {
  ssrfGuard: true as const,
  safeFetch: true,
  methods: ['GET' as const],
  maxResponseBodyBytes: 10_485_760,
  requestTimeoutMs: 30_000,
};
