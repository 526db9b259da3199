import { covers } from '@svc/tools/covers';
import { afterEach, describe, expect, test } from 'vitest';
import { type AcmeHost, OTHER_TENANT, startAcme } from './acme-host.ts';
import { eventually, type Receiver, startReceiver } from './booted-host.ts';

const OPERATIONAL = ['failing', 'failed', 'recovered', 'dead-lettering'].map((name) => `example.subscription.${name}`);

let host: AcmeHost;
let watcher: Receiver;
afterEach(async () => {
  await host.stop();
  await watcher.close();
});

/** Boots a host with one subscription to runs, and one to the operational events. */
async function watched(webhooks: object) {
  watcher = await startReceiver();
  const ports = { egress: { allowLoopback: true } };
  host = await startAcme({ durable: true, ...webhooks }, ports);
  const subscribe = async (receiver: Receiver, events: readonly string[]) => {
    const body = { url: receiver.url, events, tenantId: 'acme-prod' };
    const registered = await host.call('/v1/webhooks', { body });
    expect(registered.status).toBe(201);
    receiver.trust(registered.body.secret);
    return registered.body.webhookId as string;
  };
  const watching = await subscribe(watcher, OPERATIONAL);
  const webhookId = await subscribe(host.receiver, ['run.completed', ...OPERATIONAL]);
  return { webhookId, watching };
}

const run = () => host.call('/v1/runs', { body: { workflowId: 'echo', inputs: {} } });
const typesOf = ({ deliveries }: Receiver) => deliveries.map(({ event }) => String(event.type));
const told = () => typesOf(watcher);

describe(covers('webhooks.operational-events.delivered', 'webhooks.durable.fail-after-hours'), () => {
  test('an owner is told, once each, that a subscription is failing, dead-letters and recovers', async () => {
    const { webhookId, watching } = await watched({ retryPolicy: { maxAttempts: 2, backoff: 'fixed', delayMs: 10 } });
    host.receiver.answer = 500;
    for (let turn = 0; turn < 4; turn++) await run();
    await eventually(() => watcher.deliveries.length >= 2);
    host.receiver.answer = undefined;
    await run();
    await eventually(() => told().includes('example.subscription.recovered'));
    expect(told().toSorted()).toEqual([
      'example.subscription.dead-lettering',
      'example.subscription.failing',
      'example.subscription.recovered',
    ]);
    const [first, ...others] = watcher.deliveries;
    expect(first).toMatchObject({ webhookId: watching, workspaceId: 'acme-prod' });
    expect(first?.event.payload).toMatchObject({ webhookId, url: host.receiver.url });
    expect(new Set(others.map(({ runId }) => runId))).toEqual(new Set([first?.runId]));
    expect(watcher.deliveries.map(({ event }) => event.sequence).toSorted()).toEqual([0, 1, 2]);
    expect((await host.call(`/v1/runs/${first?.runId}`)).status).toBe(404);
    // The subscription itself hears that it has recovered, and of none of its failures.
    await eventually(() => typesOf(host.receiver).includes('example.subscription.recovered'));
    expect(typesOf(host.receiver).filter((type) => type.startsWith('example.'))).toEqual([
      'example.subscription.recovered',
    ]);
  });

  test('a subscription that fails for failAfterHours moves to failed, and its owner is told', async () => {
    const policy = { retryPolicy: { maxAttempts: 100, backoff: 'fixed', delayMs: 50 } };
    const { webhookId } = await watched({ ...policy, failAfterHours: 0.3 / 3600 });
    host.receiver.answer = 500;
    await run();
    const view = async () => (await host.call(`/host/example/webhooks/${webhookId}`)).body;
    await eventually(async () => (await view()).state === 'dead-lettered');
    await eventually(() => told().includes('example.subscription.failed'));
    const failed = watcher.deliveries.find(({ event }) => String(event.type) === 'example.subscription.failed');
    expect(failed?.event.payload).toMatchObject({ webhookId, reason: 'failing-too-long' });
    expect((await view()).failingSince).toMatch(/Z$/);
    const letters = await host.call(`/v1/webhooks/${webhookId}/dead-letters?tenantId=acme-prod`);
    expect(letters.body.deliveries).toHaveLength(1);
  });

  test('two subscriptions that watch each other, both broken, come to rest', async () => {
    const { webhookId, watching } = await watched({ retryPolicy: { maxAttempts: 5, backoff: 'fixed', delayMs: 5 } });
    host.receiver.answer = 500;
    watcher.answer = 500;
    await run();
    const letters = async (id: string) =>
      (await host.call(`/v1/webhooks/${id}/dead-letters?tenantId=acme-prod`)).body.deliveries as {
        eventType: string;
      }[];
    // The events about the subscription to runs: failing and dead-lettering. Their failures cause none.
    await eventually(async () => (await letters(watching)).length === 2);
    expect((await letters(webhookId)).map(({ eventType }) => eventType)).toEqual(['run.completed']);
    const before = host.receiver.statuses.length + watcher.statuses.length;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(host.receiver.statuses.length + watcher.statuses.length).toBe(before);
  });
});

describe(covers('webhooks.operational-events.registrable'), () => {
  test('both majors register for operational events of the organization, and for no others of a vendor', async () => {
    await watched({});
    const events = ['example.subscription.secret-rotated', 'example.subscription.failed'];
    const body = { url: host.receiver.url, events };
    const major2 = { major: '2', key: OTHER_TENANT };
    expect((await host.call('/webhooks', { ...major2, body })).status).toBe(201);
    const { body: registered, status } = await host.call('/v1/webhooks', { body: { ...body, tenantId: 'acme-prod' } });
    expect(status).toBe(201);
    expect((await host.call(`/host/example/webhooks/${registered.webhookId}`)).body.events).toEqual(events);
    for (const type of ['other.subscription.failed', 'example.subscription.unknown', 'example.webhook.test']) {
      const refused = await host.call('/webhooks', { ...major2, body: { ...body, events: [type] } });
      expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error' } });
      expect(refused.body.message).toContain(type);
    }
  });
});
