import type { OnOutcome } from '@svc/auth';
import type { Major } from '@svc/versioning';
import { pairingProblems, type Served } from '@svc/versioning';
import type { Route } from '../http/route.ts';
import type { InterruptTokens } from '../interrupts/token.ts';
import { annotationRoutes } from '../routes/annotations.ts';
import { artifactRoutes } from '../routes/artifacts.ts';
import { auditRoutes } from '../routes/audit.ts';
import { compensationRoutes } from '../routes/compensation.ts';
import { deadLetterRoutes } from '../routes/dead-letters.ts';
import { discoveryRoute } from '../routes/discovery.ts';
import { effectRoutes } from '../routes/effects.ts';
import { eventRoutes } from '../routes/events.ts';
import { forkRoutes } from '../routes/forks.ts';
import { interruptRoutes } from '../routes/interrupts.ts';
import { openApiRoute } from '../routes/openapi.ts';
import { runListRoutes } from '../routes/run-list.ts';
import { runOperationRoutes } from '../routes/run-operations.ts';
import { runRoutes } from '../routes/runs.ts';
import { secretRotationRoutes } from '../routes/secret-rotation.ts';
import { webhookRoutes } from '../routes/webhooks.ts';
import { workflowRoutes } from '../routes/workflows.ts';
import { workspaceFileRoutes } from '../routes/workspace-files.ts';
import type { RunServices } from '../runs/change-run.ts';
import { pages } from '../streams/pages.ts';
import type { ReaderLimiter } from '../streams/reader-limits.ts';
import { snapshots } from '../streams/snapshots.ts';
import { operationalEventTypes } from '../webhooks/operational-event.ts';
import { subscribableEvents } from '../webhooks/subscribable.ts';
import { DELIVERY_JSON_SCHEMAS } from '../wire/delivery-schema.ts';
import type { DeliveryParts } from './delivery.ts';
import { describedHost } from './described-host.ts';
import type { ExecutionParts } from './execution.ts';
import type { Services } from './services.ts';
import type { TriggerParts } from './triggers.ts';

export interface RouteParts {
  readonly deliveries: DeliveryParts;
  readonly execution: ExecutionParts;
  readonly runServices: RunServices;
  readonly readers: ReaderLimiter;
  readonly tokens: InterruptTokens;
  readonly triggers: Pick<TriggerParts, 'routes'>;
  /** Called with each decision about a token. */
  readonly onOutcome: OnOutcome;
  /** The discovery documents of both majors. */
  readonly documents: () => Readonly<Record<Major, object>>;
}

/**
 * The routes of every operation that the host serves, and of the API description that is made from them.
 *
 * @throws {TypeError} for an operation served under one advertised major alone
 */
export function routeTable(services: Services, parts: RouteParts): readonly Route[] {
  const { served } = services;
  const described = [
    discoveryRoute(parts.documents()),
    ...workflowRoutes(services.engine),
    ...runLifeRoutes(services, parts),
    ...subscriptionRoutes(services, parts),
    ...parts.triggers.routes,
    ...storageRoutes(services),
  ];
  const openApi = openApiRoute({ ...describedHost(services), routes: described, deliveries: DELIVERY_JSON_SCHEMAS });
  const routes = [...described, openApi];
  requirePairing(routes, served);
  return routes;
}

function runLifeRoutes(services: Services, parts: RouteParts): readonly Route[] {
  const { store, engine, clock, random, log, recordAudit, singleTenant, served, refusals, streams, observe } = services;
  const { execution, runServices, readers, tokens, onOutcome } = parts;
  const { executor, followers, tellUnheard } = execution;
  const { maxRunDurationMs } = services.runLimits;
  const read = snapshots(store, SNAPSHOTS_KEPT);
  const creating = {
    store,
    engine,
    clock,
    random,
    log,
    recordAudit,
    hasWorkspace: services.hasWorkspace,
    singleTenant,
    executor,
    served,
    maxRunDurationMs,
    snapshots: read,
  };
  return [
    ...runRoutes({ ...creating, tellUnheard }),
    ...forkRoutes({ ...creating, forks: engine.forks ?? [] }),
    ...runListRoutes({ store }),
    ...runOperationRoutes({ ...runServices, random, log, served }),
    ...annotationRoutes({ store, clock, random, recordAudit, served }),
    ...artifactRoutes({ store, served }),
    ...effectRoutes({ store, served }),
    ...compensationRoutes({ store, served, engine }),
    ...interruptRoutes({ ...runServices, served, tokens, refusals, onOutcome }),
    ...eventRoutes({
      store,
      served,
      clock,
      log,
      readerLimiter: readers,
      followers,
      pages: pages({ store, keepBytes: STREAM_PAGES_BYTES }),
      limits: streams,
      closed: observe.streamClosed,
    }),
  ];
}

/** One has up to 150 KB. */
const SNAPSHOTS_KEPT = 64;

function subscriptionRoutes(services: Services, { deliveries }: RouteParts): readonly Route[] {
  const { store, clock, random, egress, secrets, recordAudit, hasWorkspace, served, webhooks, org, engine } = services;
  const { tenantIdOptional, signatureAlgorithms } = webhooks;
  const { overlapSeconds } = webhooks.secretRotation;
  const { dispatcher, endpoints, announce } = deliveries;
  const addressed = { store, clock, served, hasWorkspace, tenantIdOptional };
  // Standard Webhooks needs a secret of the caller's, which only major 2 accepts.
  const servesStandard = served.majors.has(2) && signatureAlgorithms.includes('standard-webhooks-1');
  return [
    ...webhookRoutes({
      ...addressed,
      random,
      egress,
      secrets,
      recordAudit,
      endpoints,
      signatureAlgorithms,
      subscribable: subscribableEvents(engine, services.roles !== undefined, operationalEventTypes(org)),
      durable: { 1: webhooks.durable, 2: true },
      dispatcher,
    }),
    ...(servesStandard
      ? secretRotationRoutes({ ...addressed, secrets, recordAudit, overlapSeconds, announce, dispatcher })
      : []),
    ...deadLetterRoutes({ ...addressed, storeClock: services.storeClock }),
  ];
}

function storageRoutes({ store, clock, random, recordAudit, workspaceFiles, audit }: Services): readonly Route[] {
  return [
    ...(workspaceFiles === undefined
      ? []
      : workspaceFileRoutes({ store, clock, random, recordAudit, limits: workspaceFiles })),
    ...(audit === undefined ? [] : auditRoutes({ audit: store.audit, publicKeys: audit.publicKeys })),
  ];
}

function requirePairing(routes: readonly Route[], served: Served): void {
  const operations = new Set(routes.map(({ operationId }) => operationId));
  // One route serves an operation in every major that defines it.
  const problems = pairingProblems((operationId) => operations.has(operationId), served);
  if (problems.length > 0) throw new TypeError(problems.join(' '));
}

/** The most bytes of rendered pages in memory, for readers of the same run. */
const STREAM_PAGES_BYTES = 8_388_608;
