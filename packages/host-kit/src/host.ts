import { authenticator } from '@svc/auth';
import { egressPolicy } from '@svc/egress-guard';
import { guardedPost } from '@svc/egress-guard/post';
import { pairingProblems, type Served, served as servedVersions } from '@svc/versioning';
import type { HeaderFamily } from '@svc/webhook-verify';
import { systemClock } from './clock.ts';
import { publish } from './discovery/publish.ts';
import { pipeline } from './http/pipeline.ts';
import type { Route } from './http/route.ts';
import {
  BODY_TIMEOUT_MS,
  DEFAULT_MAX_REQUEST_BODY_BYTES,
  DEFAULT_PROTOCOL,
  type HostOptions,
  WEBHOOK_DEFAULTS,
} from './options.ts';
import { systemRandom } from './random.ts';
import { discoveryRoute } from './routes/discovery.ts';
import { runRoutes } from './routes/runs.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { type EventLog, eventLog } from './runs/event-log.ts';
import { executor } from './runs/executor.ts';
import { attempt } from './webhooks/attempt.ts';
import { dispatcher } from './webhooks/dispatcher.ts';
import { outbox } from './webhooks/outbox.ts';
import { secretBox } from './webhooks/secrets.ts';
import { renderDelivery } from './wire/delivery.ts';
import { webhookIdOf } from './wire/webhook.ts';

/** A host of workflow runs, assembled and not yet started. */
export interface Host {
  /** Answers one request. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly events: EventLog;
  /** Takes up what an earlier process left unfinished, and begins to deliver. */
  start(): Promise<void>;
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
  const { store, engine, clock = systemClock, random = systemRandom, log = () => {}, hasWorkspace } = options;
  const served = servedVersions(options.protocol ?? DEFAULT_PROTOCOL);
  const webhooks = { ...WEBHOOK_DEFAULTS, ...options.webhooks };
  const egress = options.egress ?? egressPolicy();
  const maxBytes = options.maxRequestBodyBytes ?? DEFAULT_MAX_REQUEST_BODY_BYTES;
  const secrets = secretBox(options.secretKey, random);

  const transport = options.transport ?? guardedPost({ policy: egress });
  const dispatch = dispatcher({
    queue: store.deliveries,
    attempt: attempt({
      store,
      transport,
      secrets,
      clock,
      random,
      log,
      rules: {
        retryPolicy: webhooks.retryPolicy,
        circuit: webhooks.circuit,
        deadLetterRetentionMs: webhooks.deadLetterRetentionDays * DAY_MS,
      },
      attemptTimeoutMs: webhooks.attemptTimeoutMs,
      webhookIdOf: (subscription) => webhookIdOf[subscription.major](subscription),
      families: familiesOf(served),
      userAgent: `svc-webhook-dispatcher/${VERSION}`,
    }),
    clock,
    log,
    concurrency: webhooks.concurrency,
    attemptTimeoutMs: webhooks.attemptTimeoutMs,
  });
  const events = eventLog({
    store,
    clock,
    random,
    outbox: outbox({ store, clock, random, render: renderDelivery }),
    appended: dispatch.wake,
  });
  const execute = executor({ engine, store, events, log });

  const routes: Route[] = [
    discoveryRoute(
      publish(
        {
          versions: served.versions,
          preferred: served.preferred,
          minClientVersion: served.minClientVersion,
          implementation: options.implementation ?? { name: '@svc/host-kit', version: VERSION, vendor: 'svc' },
          engineVersion: engine.version,
          maxRequestBodyBytes: maxBytes,
          webhooks,
          apiKeyIssuer: options.apiKeyIssuer ?? 'urn:svc:api-key',
          capabilities: options.capabilities ?? {},
        },
        served,
      ),
    ),
    ...runRoutes({ store, engine, clock, random, executor: execute, served }),
    ...webhookRoutes({
      store,
      clock,
      random,
      egress,
      secrets,
      hasWorkspace,
      durable: { 1: webhooks.durable, 2: true },
      dispatcher: dispatch,
      served,
    }),
  ];
  requirePairing(routes, served);

  return {
    fetch: pipeline({
      served,
      retirement: options.retirement,
      routes,
      authenticator: authenticator({ lanes: options.authenticate }),
      limiter: options.rateLimit,
      limits: { maxBytes, timeoutMs: BODY_TIMEOUT_MS },
      clock,
      random,
      log,
    }),
    events,
    async start() {
      dispatch.start();
      await execute.resume();
    },
    async stop(graceMs = 10_000) {
      await execute.stop();
      await dispatch.stop(graceMs);
      transport.close?.();
      await store.close();
    },
  };
}

const DAY_MS = 86_400_000;
const VERSION = '0.0.0';

/** During the overlap and on a host of major 1 both families are sent; a host of major 2 alone sends its own. */
function familiesOf({ majors }: Served): readonly HeaderFamily[] {
  return majors.has(1) ? ['A', 'B'] : ['A'];
}

function requirePairing(routes: readonly Route[], served: Served): void {
  const operations = new Set(routes.map(({ operationId }) => operationId));
  // One route serves an operation in every major that defines it.
  const problems = pairingProblems((operationId) => operations.has(operationId), served);
  if (problems.length > 0) throw new TypeError(problems.join(' '));
}
