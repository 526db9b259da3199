import { createServer, type RequestListener, type Server } from 'node:http';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { egressPolicy } from '@svc/egress-guard';
import { guardedFetch } from '@svc/egress-guard/fetch';
import { guardedPost } from '@svc/egress-guard/post';
import { createHost, type Host, type Log, type Store, VERSION } from '@svc/host-kit';
import { toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { auditKeys } from './audit-signer.ts';
import { apiKeyIssuer, authentication } from './authentication.ts';
import type { Config } from './config.ts';
import { configuredFile } from './configured-file.ts';
import { sampleEngine } from './engine/engine.ts';
import { FIXTURES } from './engine/fixtures.ts';
import { mounts } from './mounts.ts';
import { secretKey } from './secret-key.ts';

/** A host that is listening. */
export interface Running {
  readonly url: string;
  /** Stops accepting, lets requests and attempts finish, and closes the store. */
  stop(): Promise<void>;
  /** The longest duration of `stop`, in ms. */
  readonly stopWithinMs: number;
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
  const store = await openStore(config.store, log);
  const notYet: RequestListener = (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end();
  let listener = notYet;
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) =>
    listener(request, response),
  );
  let host: Host | undefined;
  let url: string;
  try {
    // Listens before the host exists: with port 0 the URL is not known earlier, and tokens and proofs name it.
    url = await listen(server, config.listen);
    host = await assemble(config, config.baseUrl?.replace(/\/$/, '') ?? url, store, log);
    const serve = toNodeListener(host);
    // Answers probes during the start, which continues the work of an earlier process and can take long.
    listener = (request, response) => (PROBE.test(request.url ?? '') ? serve : notYet)(request, response);
    await host.start();
    listener = serve;
  } catch (error) {
    server.close();
    await (host?.stop(0) ?? store.close());
    throw error;
  }
  const started = host;
  return {
    url,
    stopWithinMs: config.shutdown.drainMs + STOP_MS,
    async stop() {
      started.drain();
      // Time for a load balancer to see readyz fail, and to send requests elsewhere.
      await new Promise((resolve) => setTimeout(resolve, config.shutdown.drainMs));
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Streams do not end by themselves, so the server would never close.
      started.closeStreams();
      server.closeIdleConnections();
      const force = setTimeout(() => server.closeAllConnections(), GRACE_MS);
      await closed;
      clearTimeout(force);
      await started.stop(GRACE_MS);
    },
  };
}

const PROBE = /^\/host\/[^/]+\/(?:livez|readyz)(?:\?|$)/;

/** The longest stop after `drainMs`. */
const STOP_MS = 10_000;
/** The time for requests to finish, and then again for attempts. */
const GRACE_MS = 4_500;

async function assemble(config: Config, baseUrl: string, store: Store, log: Log): Promise<Host> {
  const workspaces = new Map(config.tenants.map((tenant) => [tenant.id, new Set(tenant.workspaces)]));
  const { allowLoopback, denyCidrs, allowCidrs, caFile } = config.egress;
  const egress = egressPolicy({ allowLoopback, denyCidrs, allowCidrs });
  const authorities = caFile === null ? {} : { ca: [configuredFile('egress.caFile', caFile)] };
  const { deadLetter, ...webhooks } = config.webhooks;
  const { places: readerLimits, ...streams } = config.streams;
  const { enabled, ...workspaceFiles } = config.workspaceFiles;
  const { versions, minClientVersion, retirement } = config.protocol;
  const secret = secretKey(config);
  const formerSecretKeys = config.formerSecretKeys.map((text) => Buffer.from(text, 'base64'));
  const { lanes, facts, refusals, roles } = authentication(config, baseUrl, secret);
  const { checkpointIntervalEntries, checkpointIntervalSeconds } = config.audit;
  const { maxRequestBodyBytes, ...limits } = config.limits;
  return createHost({
    store,
    engine: sampleEngine(),
    fetch: guardedFetch({ policy: egress, ...authorities, ...FETCH_LIMITS }),
    capabilities: {
      fixtures: Object.keys(FIXTURES),
      families: { httpClient: HTTP_CLIENT },
      limits,
      ...(config.contractProvenance !== null && { contractProvenance: config.contractProvenance }),
    },
    apiKeyIssuer: apiKeyIssuer(config),
    ...(config.workspaceDiscovery !== undefined && {
      workspaceDiscovery: {
        workspacesOf: (tenant: string) => [...(workspaces.get(tenant) ?? [])],
        familiesOf: (tenant: string, workspace: string) =>
          config.workspaceDiscovery?.find((view) => view.tenant === tenant && view.workspace === workspace)?.families,
      },
    }),
    log,
    telemetry: config.telemetry,
    baseUrl,
    org: config.org,
    authenticate: lanes,
    authentication: facts,
    refusals,
    ...(roles !== undefined && { roles }),
    audit: {
      ...(await auditKeys(config, secret, formerSecretKeys)),
      checkpointIntervalEntries,
      checkpointIntervalSeconds,
    },
    secretKey: secret,
    formerSecretKeys,
    hasWorkspace: (tenant, workspace) => workspaces.get(tenant)?.has(workspace) ?? false,
    egress,
    transport: guardedPost({ policy: egress, ...authorities }),
    protocol: { versions, preferred: config.protocol.preferred ?? defaultPreference(versions), minClientVersion },
    ...(retirement !== undefined && { retirement: retirementOf(retirement) }),
    ...(config.rateLimit !== undefined && { rateLimit: credentialLimit(config.rateLimit) }),
    ...(config.cors !== undefined && { cors: config.cors }),
    webhooks: { ...webhooks, deadLetterRetentionDays: deadLetter.retentionDays },
    mounts: mounts(config),
    streams: { ...streams, readerLimits },
    ...(enabled && { workspaceFiles }),
    maxRequestBodyBytes,
    implementation: { name: 'svc-reference-host', version: VERSION, vendor: config.org },
  });
}

function credentialLimit({ limit, windowSeconds }: NonNullable<Config['rateLimit']>) {
  return memoryRateLimiter({ limit, windowSeconds });
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
const FETCH_LIMITS = { maxResponseBytes: HTTP_CLIENT.maxResponseBodyBytes, timeoutMs: HTTP_CLIENT.requestTimeoutMs };
