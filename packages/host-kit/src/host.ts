import { authenticator, type Peer, protectedResourceMetadata, protectedResourceUrl, SCOPES } from '@svc/auth';
import type { AuditFact } from '@svc/auth/audit';
import { egressPolicy } from '@svc/egress-guard';
import { guardedPost } from '@svc/egress-guard/post';
import { checkVendorOrg, pairingProblems, type Served, served as servedVersions } from '@svc/versioning';
import type { HeaderFamily } from '@svc/webhook-verify';
import { factAbout } from './audit/fact.ts';
import { auditRecorder } from './audit/recorder.ts';
import { systemClock } from './clock.ts';
import { tokenIssuers } from './discovery/authentication.ts';
import { discoveryDocuments } from './discovery/documents.ts';
import { engineFamilies } from './discovery/engine-families.ts';
import type { Phase } from './health/check.ts';
import { type HealthReport, health } from './health/health.ts';
import { type Answer, responseOf } from './http/answer.ts';
import { CODINGS, contentCodings } from './http/content-coding.ts';
import { pipeline, type RequestRecord } from './http/pipeline.ts';
import { refusalOf } from './http/refusal.ts';
import type { Reply, Route } from './http/route.ts';
import { vendorTable } from './http/vendor.ts';
import { forgetExpiredReplies } from './idempotency/forget-replies.ts';
import { once } from './idempotency/once.ts';
import { timeOutDue } from './interrupts/time-out.ts';
import { interruptTokens } from './interrupts/token.ts';
import { describeError, type Log } from './log.ts';
import { byokRoutes } from './mounts/byok.ts';
import { hostRuns } from './mounts/host-runs.ts';
import { interruptTokenRoutes } from './mounts/interrupt-tokens.ts';
import { type Mount, mountDocuments, mountExtensions, mountFamilies } from './mounts/mount.ts';
import {
  AUDIT_DEFAULTS,
  BODY_TIMEOUT_MS,
  DEFAULT_MAX_REQUEST_BODY_BYTES,
  DEFAULT_PROTOCOL,
  type HostOptions,
  LONGEST_SILENCE_MS,
  STREAM_DEFAULTS,
  STREAM_PAGES_BYTES,
  type StreamOptions,
  WEBHOOK_DEFAULTS,
  WORKSPACE_FILE_DEFAULTS,
} from './options.ts';
import { systemRandom } from './random.ts';
import { artifactRoutes } from './routes/artifacts.ts';
import { auditRoutes } from './routes/audit.ts';
import { deadLetterRoutes } from './routes/dead-letters.ts';
import { discoveryRoute } from './routes/discovery.ts';
import { eventRoutes } from './routes/events.ts';
import { forkRoutes } from './routes/forks.ts';
import { interruptRoutes } from './routes/interrupts.ts';
import { openApiRoute } from './routes/openapi.ts';
import { operatorRoutes } from './routes/operator.ts';
import { probeDocuments } from './routes/probes.ts';
import { runListRoutes } from './routes/run-list.ts';
import { runOperationRoutes } from './routes/run-operations.ts';
import { runRoutes } from './routes/runs.ts';
import { secretRotationRoutes } from './routes/secret-rotation.ts';
import { statusRoutes } from './routes/status.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { workflowRoutes } from './routes/workflows.ts';
import { workspaceFileRoutes } from './routes/workspace-files.ts';
import { type EventLog, eventLog } from './runs/event-log.ts';
import { executor } from './runs/executor.ts';
import { reseal } from './sealing/reseal.ts';
import { secretBox } from './sealing/secret-box.ts';
import { followers } from './streams/follow.ts';
import { pages } from './streams/pages.ts';
import { places } from './streams/places.ts';
import { untracedTransport } from './telemetry/attempts.ts';
import { apart, tracedLog } from './telemetry/spans.ts';
import { telemetry } from './telemetry/telemetry.ts';
import type { Transaction } from './transaction.ts';
import { upkeep } from './upkeep.ts';
import { VERSION } from './version.ts';
import { attempt } from './webhooks/attempt.ts';
import { hostBacklog, tenantBacklog } from './webhooks/backlog.ts';
import { dispatcher } from './webhooks/dispatcher.ts';
import { forgetExpiredSecrets } from './webhooks/forget-secrets.ts';
import { outbox } from './webhooks/outbox.ts';
import { forgetPushes, pushes } from './webhooks/push.ts';
import type { PushFormat } from './webhooks/push-target.ts';
import { attemptSigner } from './webhooks/signing.ts';
import { endpointVerifier } from './webhooks/verify-endpoint.ts';
import { renderDelivery } from './wire/delivery.ts';
import { delivery } from './wire/delivery-schema.ts';
import { webhookIdOf } from './wire/webhook.ts';

/** A host of workflow runs, assembled and not yet started. */
export interface Host {
  /**
   * Answers one request.
   *
   * @param peer who is at the other end, where a platform tells: limits by address and client certificates need it
   */
  readonly fetch: (request: Request, peer?: Peer) => Promise<Response>;
  /** The same as data, for adapters that write it without the detour of a `Response`. */
  readonly answer: (request: Request, peer?: Peer) => Promise<Answer>;
  readonly events: EventLog;
  /** Takes up what an earlier process left unfinished, and begins to deliver. */
  start(): Promise<void>;
  /** Whether it may be sent requests, and by what it is judged. Cheap, however often it is asked. */
  health(): Promise<HealthReport>;
  /** Says that it is about to stop: `readyz` answers 503 from now on, and everything else goes on. */
  drain(): void;
  /** How many streams of events and waiting polls there are. */
  readers(): number;
  /**
   * Ends every stream and answers every poll that waits, and begins no more: for a listener that wants its connections closed before the
   * host is stopped. `stop` does it, too.
   */
  closeStreams(): void;
  /** Lets executions and attempts end for at most `graceMs`, hands the rest back, and closes the store. */
  stop(graceMs?: number): Promise<void>;
}

/**
 * Assembles a host from its parts.
 *
 * @throws {TypeError} when the parts cannot make a host: an operation served under one advertised major alone, a preference
 * for a version that is not served, a secret key of the wrong length
 * @example
 * const host = createHost({ store: sqliteStore('svc.db'), authenticate: [apiKeyLane({ keys, now: Date.now })], engine, … });
 * await host.start();
 * createServer(toNodeListener(host)).listen(8787);
 */
export function createHost(options: HostOptions): Host {
  const { engine, clock = systemClock, random = systemRandom, hasWorkspace, singleTenant } = options;
  const log = tracedLog(options.log ?? (() => {}));
  const observe = telemetry(options.telemetry ?? {}, { version: VERSION, clock });
  const store = observe.timed(options.store);
  const served = servedVersions(options.protocol ?? DEFAULT_PROTOCOL);
  const webhooks = { ...WEBHOOK_DEFAULTS, ...options.webhooks };
  const streams = streamOptions(options);
  const egress = options.egress ?? egressPolicy();
  const maxBytes = options.maxRequestBodyBytes ?? DEFAULT_MAX_REQUEST_BODY_BYTES;
  const { formerSecretKeys = [] } = options;
  const secrets = secretBox(options.secretKey, random, formerSecretKeys);
  const workspaceFiles = options.workspaceFiles && { ...WORKSPACE_FILE_DEFAULTS, ...options.workspaceFiles };
  const { authentication = {}, roles, idempotencyRetentionHours = 24, contentEncodings = CODINGS } = options;
  if (!(idempotencyRetentionHours >= 24)) {
    throw new TypeError('createHost: idempotencyRetentionHours must be at least 24.');
  }
  const implementation = options.implementation ?? { name: '@svc/host-kit', version: VERSION, vendor: 'svc' };
  // Only major 2 takes a secret from its callers, which Standard Webhooks needs.
  const servesStandard = served.majors.has(2) && webhooks.signatureAlgorithms.includes('standard-webhooks-1');
  const audit = options.audit && {
    signer: options.audit.signer,
    publicKeys: [options.audit.signer.publicKey, ...(options.audit.formerPublicKeys ?? [])],
    intervalEntries: options.audit.checkpointIntervalEntries ?? AUDIT_DEFAULTS.entries,
    intervalSeconds: options.audit.checkpointIntervalSeconds ?? AUDIT_DEFAULTS.seconds,
  };
  const recorder = audit && auditRecorder({ store, clock, random, log, observer: observe.audit, ...audit });
  const record = async (fact: AuditFact, transaction: Transaction) => recorder?.record(fact, transaction);

  const formats = new Map<string, PushFormat>();
  const transport = options.transport ?? guardedPost({ policy: egress });
  const untraced = untracedTransport(transport);
  const endpoints = endpointVerifier({ transport: untraced, clock, random, log, userAgent: USER_AGENT });
  const dispatch = dispatcher({
    queue: store.deliveries,
    attempt: observe.observed(
      attempt({
        store,
        transport: untraced,
        sign: attemptSigner({
          secrets,
          webhookIdOf: (subscription) => webhookIdOf[subscription.major](subscription),
          families: familiesOf(served),
          formats,
        }),
        clock,
        random,
        log,
        moved: observe.moved,
        rules: {
          retryPolicy: webhooks.retryPolicy,
          circuit: webhooks.circuit,
          deadLetterRetentionMs: webhooks.deadLetterRetentionDays * DAY_MS,
        },
        attemptTimeoutMs: webhooks.attemptTimeoutMs,
        userAgent: USER_AGENT,
      }),
    ),
    clock,
    log,
    concurrency: webhooks.concurrency,
    attemptTimeoutMs: webhooks.attemptTimeoutMs,
  });
  const following = followers({ store, clock, log });
  const readers = places(streams.places, clock);
  const events = eventLog({
    store,
    clock,
    random,
    outbox: outbox({ store, clock, random, render: renderDelivery, formats }),
    appended(event) {
      observe.appended(event);
      apart(dispatch.wake);
      following.appended(event);
      execute.heard(event);
    },
  });
  const execute = executor({ engine, store, clock, random, events, log });
  const operations = { store, clock, events, executor: execute, record };
  const tokens = interruptTokens([options.secretKey, ...formerSecretKeys]);

  let phase: Phase = 'made';
  const { attemptTimeoutMs } = webhooks;
  const report = health({ phase: () => phase, store: options.store, dispatcher: dispatch, attemptTimeoutMs, clock });

  const org = checkVendorOrg(options.org ?? 'example');
  const mounts: Mount[] = [
    {
      name: 'webhooks',
      path: '/webhooks',
      routes: operatorRoutes({ store, clock, dispatcher: dispatch, record, moved: observe.moved }),
    },
    {
      name: 'status',
      path: '/status',
      routes: statusRoutes({ clock, health: report, backlogOf: (tenancy, now) => tenantBacklog(store, tenancy, now) }),
    },
    {
      name: 'interrupts',
      path: '/interrupts',
      routes: interruptTokenRoutes({ ...operations, tokens, served }),
    },
    { name: 'byok', path: '/byok/secrets', routes: byokRoutes({ store, clock, secrets, record }) },
    ...(options.mounts ?? []).map((define) =>
      define({
        runs: hostRuns({
          ...operations,
          engine,
          random,
          singleTenant,
          streams: { store, followers: following, places: readers, clock },
        }),
        pushes: pushes({ store, clock, random, egress, secrets, dispatcher: dispatch, record }),
        clock,
        random,
        implementation,
        baseUrl: options.baseUrl,
        org,
        refusalOf: (error) => refusalOf(error, { log, random }),
      }),
    ),
  ];
  for (const { pushFormats = [] } of mounts) for (const [name, format] of pushFormats) formats.set(name, format);

  const described: Route[] = [
    discoveryRoute(
      discoveryDocuments(
        {
          versions: served.versions,
          preferred: served.preferred,
          minClientVersion: served.minClientVersion,
          implementation,
          engineVersion: engine.version,
          maxRequestBodyBytes: maxBytes,
          webhooks,
          idempotencyRetentionHours,
          contentEncodings,
          workspaceFiles,
          apiKeyIssuer: options.apiKeyIssuer ?? 'urn:svc:api-key',
          authentication,
          roles: roles?.catalog,
          audit: audit && {
            checkpointPublicKey: audit.signer.publicKey,
            checkpointIntervalEntries: audit.intervalEntries,
            checkpointIntervalSeconds: audit.intervalSeconds,
          },
          capabilities: {
            ...options.capabilities,
            families: {
              observability: { otel: { namespace: 'svc' } },
              ...engineFamilies(engine),
              ...mountFamilies(mounts),
              ...options.capabilities?.families,
            },
            extensions: { ...mountExtensions(org, mounts), ...options.capabilities?.extensions },
          },
        },
        served,
      ),
    ),
    ...workflowRoutes(engine),
    ...runRoutes({ store, engine, clock, random, record, singleTenant, executor: execute, served }),
    ...forkRoutes({
      store,
      engine,
      clock,
      random,
      record,
      singleTenant,
      executor: execute,
      served,
      forks: engine.forks ?? [],
    }),
    ...runListRoutes({ store }),
    ...runOperationRoutes({ ...operations, random, log, served }),
    ...artifactRoutes({ store, served }),
    ...interruptRoutes({ ...operations, served, tokens, refusals: options.refusals }),
    ...eventRoutes({
      store,
      served,
      clock,
      log,
      places: readers,
      followers: following,
      pages: pages({ store, keepBytes: STREAM_PAGES_BYTES }),
      limits: streams,
      closed: observe.streamClosed,
    }),
    ...webhookRoutes({
      store,
      clock,
      random,
      egress,
      secrets,
      record,
      hasWorkspace,
      endpoints,
      tenantIdOptional: webhooks.tenantIdOptional,
      signatureAlgorithms: webhooks.signatureAlgorithms,
      durable: { 1: webhooks.durable, 2: true },
      dispatcher: dispatch,
      served,
    }),
    ...(servesStandard
      ? secretRotationRoutes({
          store,
          clock,
          secrets,
          record,
          overlapSeconds: webhooks.secretRotation.overlapSeconds,
          served,
          hasWorkspace,
          tenantIdOptional: webhooks.tenantIdOptional,
        })
      : []),
    ...deadLetterRoutes({ store, clock, served, hasWorkspace, tenantIdOptional: webhooks.tenantIdOptional }),
    ...(workspaceFiles === undefined
      ? []
      : workspaceFileRoutes({ store, clock, random, record, limits: workspaceFiles })),
    ...(audit === undefined ? [] : auditRoutes({ audit: store.audit, publicKeys: audit.publicKeys })),
  ];
  const routes = [
    ...described,
    openApiRoute({
      routes: described,
      deliveries: { 2: delivery },
      served,
      baseUrl: options.baseUrl,
      implementation,
      version: VERSION,
      authentication,
      limitsRate: options.rateLimit !== undefined,
      retires: options.retirement !== undefined,
    }),
  ];
  requirePairing(routes, served);

  const vendor = vendorTable(
    org,
    mounts.flatMap((mount) => mount.routes),
  );
  const answer = pipeline({
    served,
    retirement: options.retirement,
    routes,
    vendor,
    documents: new Map([
      ...tokenDocuments(options),
      ...mountDocuments(vendor.prefix, mounts),
      ...probeDocuments(vendor.prefix, report),
    ]),
    authenticator: authenticator({
      lanes: options.authenticate,
      ...(options.refusals !== undefined && { refusals: options.refusals }),
      ...resourceMetadata(options),
    }),
    roles,
    limiter: options.rateLimit,
    limits: { maxBytes, timeoutMs: BODY_TIMEOUT_MS },
    codings: contentCodings(contentEncodings),
    once: once({ store, secrets, clock, random, log, retentionMs: idempotencyRetentionHours * HOUR_MS }),
    clock,
    random,
    log,
    watch: observe.watch,
    answered(answered) {
      logAnswered(log, answered);
      return recorder?.note(requestFact(answered));
    },
  });

  const upkeeps = [
    upkeep({
      clock,
      log,
      name: 'interrupts.time-out',
      everyMs: TIME_OUT_EVERY_MS,
      round: timeOutDue(operations),
    }),
    upkeep({
      clock,
      log,
      name: 'webhook-secrets.forget',
      everyMs: FORGET_SECRETS_MS,
      round: forgetExpiredSecrets(store, clock),
    }),
    upkeep({
      clock,
      log,
      name: 'idempotency.forget',
      everyMs: FORGET_REPLIES_MS,
      round: forgetExpiredReplies(store, clock),
    }),
    ...(formats.size === 0
      ? []
      : [
          upkeep({
            clock,
            log,
            name: 'pushes.forget',
            everyMs: FORGET_PUSHES_MS,
            round: forgetPushes(store, clock, webhooks.deadLetterRetentionDays * DAY_MS),
          }),
        ]),
    ...(formerSecretKeys.length === 0
      ? []
      : [upkeep({ clock, log, name: 'secrets.reseal', everyMs: RESEAL_MS, round: reseal({ store, secrets, log }) })]),
  ];

  let stopWatching = (): void => {};
  let stopShowing = (): void => {};

  /** Looks for what other hosts have left: their dead do not say so. */
  function watch(): void {
    const again = (everyMs: number, look: () => void): (() => void) => {
      let cancel = (): void => {};
      const arm = () => {
        cancel = clock.at(clock.now() + everyMs, () => {
          look();
          arm();
        });
      };
      arm();
      return () => cancel();
    };
    const takeUp = () => {
      execute.resume().catch((error: unknown) => {
        log({ level: 'error', event: 'run.take-up-failed', ...describeError(error) });
      });
    };
    const look = () => {
      execute.look().catch((error: unknown) => {
        log({ level: 'error', event: 'run.look-failed', ...describeError(error) });
      });
    };
    const cancels = [
      again(SHARED_QUEUE_MS, dispatch.wake),
      again(SHARED_RUNS_MS, takeUp),
      again(SHARED_REQUESTS_MS, look),
    ];
    stopWatching = () => {
      for (const cancel of cancels) cancel();
    };
  }

  return {
    fetch: async (request, peer) => responseOf(await answer(request, peer)),
    answer,
    events,
    health: report,
    drain() {
      if (phase !== 'stopped') phase = 'draining';
    },
    async start() {
      phase = 'starting';
      stopShowing = observe.show({ backlog: (now) => hostBacklog(store, now), readers: readers.taken });
      recorder?.start();
      if (store.shared === true) watch();
      dispatch.start();
      for (const { start } of upkeeps) start();
      await execute.resume();
      if (phase === 'starting') phase = 'running';
    },
    readers: readers.taken,
    closeStreams: readers.close,
    async stop(graceMs = 10_000) {
      phase = 'stopped';
      stopShowing();
      stopWatching();
      readers.close();
      endpoints.stop();
      // At the same time, so that one grace serves both. What an execution appends now waits in the outbox.
      const upkeepsStop = upkeeps.map(({ stop }) => stop());
      await Promise.all([execute.stop(graceMs), dispatch.stop(graceMs), readers.empty(graceMs), ...upkeepsStop]);
      await recorder?.stop();
      transport.close?.();
      await store.close();
    },
  };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SHARED_QUEUE_MS = 1000;
const TIME_OUT_EVERY_MS = 1000;
const SHARED_RUNS_MS = 5000;
const SHARED_REQUESTS_MS = 1000;
const FORGET_SECRETS_MS = 60_000;
const FORGET_PUSHES_MS = 3_600_000;
const FORGET_REPLIES_MS = 60_000;
/** Again, because another host may have sealed with a former key meanwhile. */
const RESEAL_MS = 600_000;
const USER_AGENT = `svc-webhook-dispatcher/${VERSION}`;

/** During the overlap and on a host of major 1 both families are sent; a host of major 2 alone sends its own. */
function familiesOf({ majors }: Served): readonly HeaderFamily[] {
  return majors.has(1) ? ['A', 'B'] : ['A'];
}

function streamOptions({ streams }: HostOptions): StreamOptions {
  const chosen = { ...STREAM_DEFAULTS, ...streams };
  if (chosen.keepAliveMs > LONGEST_SILENCE_MS) {
    throw new TypeError(`createHost: streams.keepAliveMs must be ${LONGEST_SILENCE_MS} at the most.`);
  }
  return chosen;
}

function requirePairing(routes: readonly Route[], served: Served): void {
  const operations = new Set(routes.map(({ operationId }) => operationId));
  // One route serves an operation in every major that defines it.
  const problems = pairingProblems((operationId) => operations.has(operationId), served);
  if (problems.length > 0) throw new TypeError(problems.join(' '));
}

/** Only a host that takes tokens tells where to get one. */
function resourceMetadata({ authentication = {}, baseUrl }: HostOptions): { readonly resourceMetadata?: string } {
  if (tokenIssuers(authentication).length === 0) return {};
  if (baseUrl === undefined) throw new TypeError('createHost: a host that takes tokens needs its baseUrl.');
  return { resourceMetadata: protectedResourceUrl(baseUrl) };
}

function tokenDocuments({ authentication = {}, baseUrl }: HostOptions): ReadonlyMap<string, () => Promise<Reply>> {
  const issuers = tokenIssuers(authentication);
  if (issuers.length === 0 || baseUrl === undefined) return new Map();
  const { dpop } = authentication;
  const { origin, pathname } = new URL(baseUrl);
  const metadata = protectedResourceMetadata({
    resource: pathname === '/' ? origin : baseUrl,
    issuers,
    scopes: SCOPES.filter((scope) => !scope.startsWith('packs:')),
    ...(dpop !== undefined && { dpopAlgorithms: dpop.algorithms, requires: { dpop: dpop.required } }),
  });
  const body = new TextEncoder().encode(JSON.stringify(metadata));
  const headers = { 'cache-control': 'public, max-age=300' };
  return new Map([[new URL(protectedResourceUrl(baseUrl)).pathname, async () => ({ status: 200, headers, body })]]);
}

/** @see Interface: Audit logging */
function logAnswered(log: Log, answered: RequestRecord): void {
  const { principal, operation, method, path, scope, major, status, latencyMs, traceId, decided } = answered;
  const { credentialId, tenancy, lane, binding } = principal;
  log({
    level: 'info',
    event: 'request',
    keyId: credentialId,
    tenant: tenancy.tenant,
    lane,
    binding,
    operation,
    method,
    path,
    scope,
    major,
    status,
    latencyMs,
    traceId,
  });
  if (decided?.allowed === false)
    log({ level: 'info', event: 'authorization.decided', tenant: tenancy.tenant, ...decided });
}

function requestFact(answered: RequestRecord): AuditFact {
  const { principal, operation, method, path, scope, status, startedAt, latencyMs, decided } = answered;
  return factAbout(principal, {
    action: 'request',
    target: decided === undefined || decided.resource === 'withheld' ? null : decided.resource,
    at: startedAt,
    details: {
      operation,
      method: /^[A-Z]{1,16}$/.test(method) ? method : 'other',
      path: path ?? null,
      scope: scope ?? null,
      status,
      latencyMs,
      ...(decided !== undefined && { allowed: decided.allowed, reason: decided.reason }),
    },
  });
}
