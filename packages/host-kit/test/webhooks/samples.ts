import type { Delivery } from '../../src/ports/deliveries.ts';
import type { Subscription } from '../../src/ports/subscriptions.ts';

export function sampleSubscription(fields: Partial<Subscription>): Subscription {
  return {
    webhookId: 'whk_1',
    tenant: 'acme',
    workspaces: 'all',
    mode: 'live',
    major: 1,
    url: 'https://example.com/',
    events: ['run.completed'],
    tags: [],
    durable: true,
    status: 'active',
    circuit: { state: 'closed', consecutiveFailures: 0 },
    failures: [],
    signatureAlgorithms: ['v1'],
    sealedSecret: new Uint8Array(),
    secretFingerprint: '00000000',
    previousSecret: undefined,
    createdAt: 0,
    ...fields,
  };
}

export function sampleDelivery(fields: Partial<Delivery>): Delivery {
  return {
    deliveryId: 'dlv_1',
    webhookId: 'whk_1',
    runId: 'run_1',
    eventId: 'evt_1',
    sequence: 0,
    eventType: 'run.completed',
    body: new Uint8Array(),
    attempts: 0,
    dueAt: 0,
    ...fields,
  };
}
