import { pairingProblems, type Served } from '@svc/versioning';
import { discoveryDocuments } from '../discovery/documents.ts';
import type { Route } from '../http/route.ts';
import type { InterruptTokens } from '../interrupts/token.ts';
import type { Mount } from '../mounts/mount.ts';
import { STREAM_PAGES_BYTES } from '../options.ts';
import { artifactRoutes } from '../routes/artifacts.ts';
import { auditRoutes } from '../routes/audit.ts';
import { deadLetterRoutes } from '../routes/dead-letters.ts';
import { discoveryRoute } from '../routes/discovery.ts';
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
import type { RunOperationOptions } from '../runs/operation.ts';
import { pages } from '../streams/pages.ts';
import type { Places } from '../streams/places.ts';
import { VERSION } from '../version.ts';
import { delivery } from '../wire/delivery-schema.ts';
import type { DeliveryRoom } from './delivery-room.ts';
import type { EngineRoom } from './engine-room.ts';
import { hostFacts } from './facts.ts';
import type { Ground } from './ground.ts';

export interface RouteParts {
  readonly deliveries: DeliveryRoom;
  readonly engineRoom: EngineRoom;
  readonly operations: RunOperationOptions;
  readonly readers: Places;
  readonly tokens: InterruptTokens;
  /** What discovery tells of beside the operations. */
  readonly mounts: readonly Mount[];
}

/**
 * Every operation of the protocol that the host serves, and the description of all of them.
 *
 * @throws {TypeError} for an operation served under one advertised major alone
 */
export function routeTable(ground: Ground, parts: RouteParts): readonly Route[] {
  const { served, baseUrl, implementation, authentication } = ground;
  const described = [
    discoveryRoute(discoveryDocuments(hostFacts(ground, parts.mounts), served)),
    ...workflowRoutes(ground.engine),
    ...routesOfRuns(ground, parts),
    ...routesOfWebhooks(ground, parts),
    ...routesOfWhatIsKept(ground),
  ];
  const openApi = openApiRoute({
    routes: described,
    deliveries: { 2: delivery },
    served,
    baseUrl,
    implementation,
    version: VERSION,
    authentication,
    limitsRate: ground.rateLimit !== undefined,
    retires: ground.retirement !== undefined,
  });
  const routes = [...described, openApi];
  requirePairing(routes, served);
  return routes;
}

function routesOfRuns(ground: Ground, { engineRoom, operations, readers, tokens }: RouteParts): readonly Route[] {
  const { store, engine, clock, random, log, record, singleTenant, served, refusals, streams, observe } = ground;
  const { executor, followers } = engineRoom;
  const creating = { store, engine, clock, random, record, singleTenant, executor, served };
  return [
    ...runRoutes(creating),
    ...forkRoutes({ ...creating, forks: engine.forks ?? [] }),
    ...runListRoutes({ store }),
    ...runOperationRoutes({ ...operations, random, log, served }),
    ...artifactRoutes({ store, served }),
    ...interruptRoutes({ ...operations, served, tokens, refusals }),
    ...eventRoutes({
      store,
      served,
      clock,
      log,
      places: readers,
      followers,
      pages: pages({ store, keepBytes: STREAM_PAGES_BYTES }),
      limits: streams,
      closed: observe.streamClosed,
    }),
  ];
}

function routesOfWebhooks(ground: Ground, { deliveries }: RouteParts): readonly Route[] {
  const { store, clock, random, egress, secrets, record, hasWorkspace, served, webhooks } = ground;
  const { tenantIdOptional, signatureAlgorithms, secretRotation } = webhooks;
  const { dispatcher, endpoints } = deliveries;
  const addressed = { store, clock, served, hasWorkspace, tenantIdOptional };
  // Only major 2 takes a secret from its callers, which Standard Webhooks needs.
  const servesStandard = served.majors.has(2) && signatureAlgorithms.includes('standard-webhooks-1');
  return [
    ...webhookRoutes({
      ...addressed,
      random,
      egress,
      secrets,
      record,
      endpoints,
      signatureAlgorithms,
      durable: { 1: webhooks.durable, 2: true },
      dispatcher,
    }),
    ...(servesStandard
      ? secretRotationRoutes({ ...addressed, secrets, record, overlapSeconds: secretRotation.overlapSeconds })
      : []),
    ...deadLetterRoutes(addressed),
  ];
}

function routesOfWhatIsKept({ store, clock, random, record, workspaceFiles, audit }: Ground): readonly Route[] {
  return [
    ...(workspaceFiles === undefined
      ? []
      : workspaceFileRoutes({ store, clock, random, record, limits: workspaceFiles })),
    ...(audit === undefined ? [] : auditRoutes({ audit: store.audit, publicKeys: audit.publicKeys })),
  ];
}

function requirePairing(routes: readonly Route[], served: Served): void {
  const operations = new Set(routes.map(({ operationId }) => operationId));
  // One route serves an operation in every major that defines it.
  const problems = pairingProblems((operationId) => operations.has(operationId), served);
  if (problems.length > 0) throw new TypeError(problems.join(' '));
}
