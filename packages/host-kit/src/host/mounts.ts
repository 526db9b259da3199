import type { Major } from '@svc/versioning';
import type { HealthReport } from '../health/health.ts';
import { refusalOf } from '../http/refusal.ts';
import type { InterruptTokens } from '../interrupts/token.ts';
import { byokRoutes } from '../mounts/byok.ts';
import { deliveryRoutes } from '../mounts/deliveries.ts';
import { discoveryRoutes } from '../mounts/discovery.ts';
import { eventTypeRoutes } from '../mounts/event-types.ts';
import { hostRuns } from '../mounts/host-runs.ts';
import { interruptTokenRoutes } from '../mounts/interrupt-tokens.ts';
import type { Mount, MountServices } from '../mounts/mount.ts';
import { operatorRoutes } from '../mounts/operator.ts';
import { schemaMount } from '../mounts/schemas.ts';
import { statusRoutes } from '../mounts/status.ts';
import { webhookJobRoutes } from '../mounts/webhook-jobs.ts';
import type { RunServices } from '../runs/change-run.ts';
import type { ReaderLimiter } from '../streams/reader-limits.ts';
import { tenantBacklog } from '../webhooks/backlog.ts';
import { operationalEventTypes } from '../webhooks/operational-event.ts';
import { pushes } from '../webhooks/push.ts';
import { subscribableEvents } from '../webhooks/subscribable.ts';
import { renderDelivery } from '../wire/delivery.ts';
import type { DeliveryParts } from './delivery.ts';
import type { ExecutionParts } from './execution.ts';
import type { Services } from './services.ts';

export interface MountParts {
  /** The discovery documents, which are made after the mounts. */
  readonly documents: () => Readonly<Record<Major, object>>;
  readonly deliveries: DeliveryParts;
  readonly execution: ExecutionParts;
  readonly runServices: RunServices;
  readonly readers: ReaderLimiter;
  readonly tokens: InterruptTokens;
  readonly health: () => Promise<HealthReport>;
}

/** The mounts under `/host/<org>/`: those of the kit, and those of the options. */
export function hostMounts(services: Services, parts: MountParts): readonly Mount[] {
  const { store, clock, secrets, recordAudit, served, observe } = services;
  const { runServices, tokens, health } = parts;
  const { dispatcher, sendTest } = parts.deliveries;
  const operating = { store, clock, dispatcher, recordAudit, stateChanged: observe.stateChanged };
  const operationalEvents = operationalEventTypes(services.org);
  const subscribable = subscribableEvents(services.engine, services.roles !== undefined, operationalEvents);
  const given = mountServices(services, parts);
  return [
    {
      name: 'webhooks',
      path: '/webhooks',
      routes: [
        ...operatorRoutes({ ...operating, subscribable }),
        ...webhookJobRoutes({ ...operating, random: services.random, subscribable }),
        ...deliveryRoutes({ ...operating, sendTest, subscribable, render: renderDelivery }),
      ],
    },
    { name: 'event-types', path: '/event-types', routes: eventTypeRoutes(operationalEvents, subscribable) },
    {
      name: 'status',
      path: '/status',
      routes: statusRoutes({ clock, health, backlogOf: (tenancy, now) => tenantBacklog(store, tenancy, now) }),
    },
    { name: 'interrupts', path: '/interrupts', routes: interruptTokenRoutes({ ...runServices, tokens, served }) },
    { name: 'byok', path: '/byok/secrets', routes: byokRoutes({ store, clock, secrets, recordAudit }) },
    schemaMount(),
    ...workspaceDiscovery(services, parts),
    ...(services.mounts ?? []).map((define) => define(given)),
  ];
}

function workspaceDiscovery(
  { workspaceDiscovery: views, served }: Services,
  { documents }: MountParts,
): readonly Mount[] {
  if (views === undefined) return [];
  const routes = discoveryRoutes({ documents, views, served });
  return [{ name: 'discovery', path: '/discovery', routes }];
}

function mountServices(services: Services, { deliveries, execution, runServices, readers }: MountParts): MountServices {
  const { store, clock, random, log, engine, egress, secrets, recordAudit, singleTenant } = services;
  const { implementation, baseUrl, org } = services;
  return {
    runs: hostRuns({
      ...runServices,
      executor: execution.executor,
      engine,
      random,
      singleTenant,
      streams: { store, followers: execution.followers, readerLimiter: readers, clock },
    }),
    pushes: pushes({ store, clock, random, egress, secrets, dispatcher: deliveries.dispatcher, recordAudit }),
    clock,
    random,
    log,
    secrets: {
      seal: (text, boundTo) => Buffer.from(secrets.seal(text, sealedForMount(boundTo))).toString('base64url'),
      open: (sealed, boundTo) => secrets.open(Buffer.from(sealed, 'base64url'), sealedForMount(boundTo)),
    },
    implementation,
    baseUrl,
    org,
    refusalOf: (error) => refusalOf(error, { log, random }),
  };
}

/** Keeps the texts of mounts apart from every other secret of the host. */
function sealedForMount(boundTo: string): string {
  return JSON.stringify(['mount', boundTo]);
}
