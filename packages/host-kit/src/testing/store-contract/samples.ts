import type { ClaimedDelivery, ClaimRequest, ClaimRoom, Delivery, ReleasedClaim } from '../../ports/deliveries.ts';
import type { Run } from '../../ports/runs.ts';
import type { Store } from '../../ports/store.ts';
import type { Subscription } from '../../ports/subscriptions.ts';

export const TENANCY: { tenant: string; workspaces: 'all' | string[]; mode: 'live' | 'test' } = {
  tenant: 'acme',
  workspaces: 'all',
  mode: 'live',
};

/** Room for everything. */
export const ANY_ROOM: ClaimRoom = { hasRoomFor: () => true, capacityOf: () => 10_000, take: () => {} };

export const CLAIM: ClaimRequest = { now: 1000, leaseUntil: 9000, limit: 100, room: ANY_ROOM };

/** Makes the room of one claim. Each limit without a value is 10 000. */
export function roomFor({ perTenant = 10_000, perSubscription = 10_000 }): ClaimRoom {
  const taken = new Map<string, number>();
  const countOf = (name: string) => taken.get(name) ?? 0;
  return {
    hasRoomFor: (tenant) => countOf(`tenant ${tenant}`) < perTenant,
    capacityOf: ({ webhookId }) => perSubscription - countOf(webhookId),
    take({ tenant, webhookId }) {
      for (const name of [`tenant ${tenant}`, webhookId]) taken.set(name, countOf(name) + 1);
    },
  };
}

export function sampleRun(fields: Partial<Run>): Run {
  return {
    runId: 'run_1',
    tenant: 'acme',
    mode: 'live',
    workflowId: 'echo',
    status: 'pending',
    owner: { tenant: 'acme', principal: 'p_1' },
    inputs: { text: 'é\u0000"' },
    tags: [],
    engineVersion: 1,
    eventLogSchemaVersion: 3,
    lastSequence: -1,
    createdAt: 1,
    ...fields,
  };
}

export function sampleEvent(sequence: number) {
  return {
    eventId: `evt_${sequence}`,
    runId: 'run_1',
    type: 'node.completed',
    sequence,
    timestamp: 7,
    payload: { nodeId: 'n', outputs: [null, 1, 'x'] },
    schemaVersion: 1,
    engineVersion: 1,
    nodeId: 'n',
  };
}

export function sampleSubscription(fields: Partial<Subscription>): Subscription {
  return {
    webhookId: 'whk_1',
    tenant: 'acme',
    workspaces: 'all',
    mode: 'live',
    major: 1,
    url: 'https://example.com/',
    events: ['run.completed', 'run.failed'],
    tags: [],
    durable: true,
    status: 'active',
    circuit: { state: 'closed', consecutiveFailures: 0 },
    failures: [],
    signatureAlgorithms: ['v1'],
    sealedSecret: Uint8Array.of(1, 2, 3),
    secretFingerprint: '00000000',
    previousSecret: undefined,
    createdAt: 1,
    ...fields,
  };
}

export function sampleDelivery(fields: Partial<Delivery>): Delivery {
  return {
    deliveryId: 'dlv_1',
    webhookId: 'whk_1',
    runId: 'run_1',
    eventId: 'evt_1',
    sequence: 1,
    eventType: 'run.completed',
    body: Uint8Array.of(123, 125),
    attempts: 0,
    dueAt: 1000,
    ...fields,
  };
}

export async function withSubscriptions(store: Store, ...webhookIds: readonly string[]): Promise<void> {
  await store.transaction(async (transaction) => {
    for (const webhookId of webhookIds)
      await store.subscriptions.insert(sampleSubscription({ webhookId }), transaction);
  });
}

/** The claim that `CLAIM` makes on the sample delivery. */
export const CLAIMED: ReleasedClaim = {
  deliveryId: 'dlv_1',
  webhookId: 'whk_1',
  leaseUntil: CLAIM.leaseUntil,
  dueAt: 1000,
};

/** A delivery as a claim by `CLAIM` returns it. */
export function claimed(delivery: Delivery): ClaimedDelivery {
  return { ...delivery, tenant: TENANCY.tenant, leaseUntil: CLAIM.leaseUntil };
}
