import { authenticator, type OnOutcome, type Principal } from '@svc/auth';
import type { Major } from '@svc/versioning';
import type { HealthReport } from '../health/health.ts';
import { refusalOf } from '../http/refusal.ts';
import type { MountRoute } from '../http/route.ts';
import { requireSignInForScope } from '../http/sign-in-rules.ts';
import type { InterruptTokens } from '../interrupts/token.ts';
import { allRunsEventRoutes } from '../mounts/all-runs-events.ts';
import { apiKeyRoutes } from '../mounts/api-keys.ts';
import { approvalOverrideRoutes } from '../mounts/approval-overrides.ts';
import { assignmentRoutes } from '../mounts/assignments.ts';
import { auditMountRoutes } from '../mounts/audit.ts';
import { byokRoutes } from '../mounts/byok.ts';
import { deadLetterFacetRoutes } from '../mounts/dead-letter-facets.ts';
import { debugBundleRoutes } from '../mounts/debug-bundle.ts';
import { deliveryRoutes } from '../mounts/deliveries.ts';
import { deliverySeriesRoutes } from '../mounts/delivery-series.ts';
import { discoveryRoutes } from '../mounts/discovery.ts';
import { eventTypeRoutes } from '../mounts/event-types.ts';
import { hostRuns } from '../mounts/host-runs.ts';
import { interruptTokenRoutes } from '../mounts/interrupt-tokens.ts';
import { mirrorReportRoutes } from '../mounts/mirror-report.ts';
import type { Mount, MountServices } from '../mounts/mount.ts';
import { operatorRoutes } from '../mounts/operator.ts';
import { portalRoutes } from '../mounts/portal.ts';
import { portalSessionRoutes } from '../mounts/portal-sessions.ts';
import { roleRoutes } from '../mounts/roles.ts';
import { schemaMount } from '../mounts/schemas.ts';
import { statusRoutes } from '../mounts/status.ts';
import { versionUseRoutes } from '../mounts/version-uses.ts';
import { webhookJobRoutes } from '../mounts/webhook-jobs.ts';
import { withdrawalRoutes } from '../mounts/withdrawals.ts';
import { workloadBindingRoutes } from '../mounts/workload-bindings.ts';
import { portalLane } from '../portal/session-lane.ts';
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
import type { TriggerParts } from './triggers.ts';

export interface MountParts {
  /** The discovery documents, which are made after the mounts. */
  readonly documents: () => Readonly<Record<Major, object>>;
  readonly deliveries: DeliveryParts;
  readonly execution: ExecutionParts;
  readonly runServices: RunServices;
  readonly readers: ReaderLimiter;
  readonly tokens: InterruptTokens;
  readonly triggers: Pick<TriggerParts, 'mounts'>;
  readonly health: () => Promise<HealthReport>;
  /** Called with each decision about the token of a portal session. */
  readonly onOutcome: OnOutcome;
}

/** The mounts under `/host/<org>/`: those of the kit, and those of the options. */
export function hostMounts(services: Services, parts: MountParts): readonly Mount[] {
  const { store, clock, storeClock, secrets, recordAudit, served, observe } = services;
  const { runServices, tokens, health, triggers } = parts;
  const { dispatcher, sendTest } = parts.deliveries;
  const operating = { store, clock, storeClock, dispatcher, recordAudit, stateChanged: observe.stateChanged };
  const operationalEvents = operationalEventTypes(services.org);
  const subscribable = subscribableEvents(services.engine, services.roles !== undefined, operationalEvents);
  const given = mountServices(services, parts);
  return [
    {
      name: 'webhooks',
      path: '/webhooks',
      routes: [
        // First, because `/webhooks/{webhookId}` matches `/webhooks/series` too.
        ...deliverySeriesRoutes({ store, clock, keptMs: services.retention.deliverySeriesDays * DAY_MS }),
        ...deadLetterFacetRoutes(operating),
        ...operatorRoutes({ ...operating, subscribable }),
        ...webhookJobRoutes({ ...operating, random: services.random, subscribable }),
        ...deliveryRoutes({ ...operating, secrets, sendTest, subscribable, render: renderDelivery }),
      ],
    },
    ...portal(services, parts),
    { name: 'event-types', path: '/event-types', routes: eventTypeRoutes(operationalEvents, subscribable) },
    { name: 'events', path: '/events', routes: eventsMount(services, parts) },
    {
      name: 'status',
      path: '/status',
      routes: statusRoutes({
        storeClock,
        health,
        backlogOf: (tenancy, now) => tenantBacklog({ store, dispatcher }, tenancy, now),
      }),
    },
    {
      name: 'interrupts',
      path: '/interrupts',
      routes: [
        ...interruptTokenRoutes({ ...runServices, tokens, served }),
        ...approvalOverrideRoutes({ ...runServices, served }),
      ],
    },
    { name: 'byok', path: '/byok/secrets', routes: byokRoutes({ store, clock, secrets, recordAudit }) },
    ...apiKeys(services),
    ...access(services),
    ...triggers.mounts,
    schemaMount(),
    ...auditLogs(services),
    { name: 'versions', path: '/versions', routes: versionRoutes(services) },
    ...debugBundles(services),
    ...workspaceDiscovery(services, parts),
    ...(services.mounts ?? []).map((define) => define(given)),
  ];
}

function eventsMount(services: Services, { execution, readers }: MountParts): readonly MountRoute[] {
  const { store, clock, log, served, streams: limits, observe, engine, roles } = services;
  return allRunsEventRoutes({
    store,
    clock,
    log,
    served,
    limits,
    followers: execution.followers,
    readerLimiter: readers,
    closed: observe.streamClosed,
    // Operational events belong to no run.
    subscribable: subscribableEvents(engine, roles !== undefined),
  });
}

function versionRoutes({ store, versionUses: uses, mirror }: Services): readonly MountRoute[] {
  return [...versionUseRoutes({ store, uses }), ...(mirror === undefined ? [] : mirrorReportRoutes(mirror.report))];
}

function portal(services: Services, { deliveries, onOutcome }: MountParts): readonly Mount[] {
  const { portal: options, refusals, access, webhooks, observe, engine, roles, org } = services;
  if (options === undefined) return [];
  const operationalEvents = operationalEventTypes(org);
  const subscribable = subscribableEvents(engine, roles !== undefined, operationalEvents);
  return [
    {
      name: 'portal-sessions',
      path: '/portal-sessions',
      routes: portalSessionRoutes({ ...services, ...options, subscribable }),
    },
    {
      name: 'portal',
      path: '/portal',
      describedApart: PORTAL_DESCRIPTION,
      routes: portalRoutes({
        ...services,
        ...deliveries,
        ...{ subscribable, operationalEvents, stateChanged: observe.stateChanged, render: renderDelivery },
        overlapSeconds: webhooks.secretRotation.overlapSeconds,
        authenticator: authenticator({
          lanes: [portalLane({ ...services, hasStoredKeys: services.apiKeys !== undefined })],
          onOutcome,
          ...(refusals !== undefined && { refusals }),
          ...(access !== undefined && { denyList: access }),
        }),
      }),
    },
  ];
}

const PORTAL_DESCRIPTION = {
  path: '/portal/openapi.json',
  title: 'The operations of a portal session',
  credential: 'The token of a portal session. It works for these operations alone.',
};

function auditLogs({ audit, store }: Services): readonly Mount[] {
  return audit === undefined ? [] : [{ name: 'audit', path: '/audit', routes: auditMountRoutes(store) }];
}

function apiKeys(services: Services): readonly Mount[] {
  const { apiKeys: keys } = services;
  if (keys === undefined) return [];
  return [{ name: 'keys', path: '/keys', routes: apiKeyRoutes({ ...services, ...signIns(services), keys }) }];
}

/** For the scopes that no endpoint requires by itself, such as that for keys of other principals. */
function signIns({ stepUp = [] }: Services): { requireSignIn: (scope: string, caller: Principal) => void } {
  return { requireSignIn: (scope, caller) => requireSignInForScope(stepUp, scope, caller) };
}

function access(services: Services): readonly Mount[] {
  const { access: stored } = services;
  if (stored === undefined) return [];
  const given = { ...services, ...signIns(services), access: stored };
  return [
    { name: 'withdrawals', path: '/withdrawals', routes: withdrawalRoutes(given) },
    ...(stored.hasRoles
      ? [
          { name: 'roles', path: '/roles', routes: roleRoutes(given) },
          { name: 'assignments', path: '/assignments', routes: assignmentRoutes(given) },
        ]
      : []),
    ...(stored.hasWorkloads
      ? [{ name: 'workload-bindings', path: '/workload-bindings', routes: workloadBindingRoutes(given) }]
      : []),
  ];
}

function debugBundles(services: Services): readonly Mount[] {
  const { debugBundles: keys, audit } = services;
  if (keys === undefined) return [];
  const routes = debugBundleRoutes({ ...services, signer: keys.signer, hasAudit: audit !== undefined });
  return [{ name: 'debug-bundles', path: '/runs', routes }];
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
      tellUnheard: execution.tellUnheard,
      engine,
      random,
      hasWorkspace: services.hasWorkspace,
      maxRunDurationMs: services.runLimits.maxRunDurationMs,
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
    runDays: services.retention.runDays,
    refusalOf: (error) => refusalOf(error, { log, random, isUnavailable: store.isUnavailable }),
  };
}

/** Keeps the texts of mounts apart from every other secret of the host. */
function sealedForMount(boundTo: string): string {
  return JSON.stringify(['mount', boundTo]);
}

const DAY_MS = 86_400_000;
