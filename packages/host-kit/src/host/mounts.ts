import type { HealthReport } from '../health/health.ts';
import { refusalOf } from '../http/refusal.ts';
import type { InterruptTokens } from '../interrupts/token.ts';
import { byokRoutes } from '../mounts/byok.ts';
import { hostRuns } from '../mounts/host-runs.ts';
import { interruptTokenRoutes } from '../mounts/interrupt-tokens.ts';
import type { Mount, MountServices } from '../mounts/mount.ts';
import { operatorRoutes } from '../routes/operator.ts';
import { statusRoutes } from '../routes/status.ts';
import type { RunOperationOptions } from '../runs/operation.ts';
import type { Places } from '../streams/places.ts';
import { tenantBacklog } from '../webhooks/backlog.ts';
import { pushes } from '../webhooks/push.ts';
import type { DeliveryRoom } from './delivery-room.ts';
import type { EngineRoom } from './engine-room.ts';
import type { Ground } from './ground.ts';

export interface MountParts {
  readonly deliveries: DeliveryRoom;
  readonly engineRoom: EngineRoom;
  readonly operations: RunOperationOptions;
  readonly readers: Places;
  readonly tokens: InterruptTokens;
  readonly health: () => Promise<HealthReport>;
}

/** What the host has under `/host/<org>/`: the kit's own surfaces, and those that it was given. */
export function hostMounts(ground: Ground, parts: MountParts): readonly Mount[] {
  const { store, clock, secrets, record, served, observe } = ground;
  const { operations, tokens, health } = parts;
  const { dispatcher } = parts.deliveries;
  const services = mountServices(ground, parts);
  return [
    {
      name: 'webhooks',
      path: '/webhooks',
      routes: operatorRoutes({ store, clock, dispatcher, record, moved: observe.moved }),
    },
    {
      name: 'status',
      path: '/status',
      routes: statusRoutes({ clock, health, backlogOf: (tenancy, now) => tenantBacklog(store, tenancy, now) }),
    },
    { name: 'interrupts', path: '/interrupts', routes: interruptTokenRoutes({ ...operations, tokens, served }) },
    { name: 'byok', path: '/byok/secrets', routes: byokRoutes({ store, clock, secrets, record }) },
    ...(ground.mounts ?? []).map((define) => define(services)),
  ];
}

function mountServices(ground: Ground, { deliveries, engineRoom, operations, readers }: MountParts): MountServices {
  const { store, clock, random, log, engine, egress, secrets, record, singleTenant } = ground;
  const { implementation, baseUrl, org } = ground;
  return {
    runs: hostRuns({
      ...operations,
      executor: engineRoom.executor,
      engine,
      random,
      singleTenant,
      streams: { store, followers: engineRoom.followers, places: readers, clock },
    }),
    pushes: pushes({ store, clock, random, egress, secrets, dispatcher: deliveries.dispatcher, record }),
    clock,
    random,
    implementation,
    baseUrl,
    org,
    refusalOf: (error) => refusalOf(error, { log, random }),
  };
}
