import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeHost, OTHER_TENANT, startAcme } from './acme-host.ts';
import { eventually, type Receiver, startReceiver } from './booted-host.ts';

let neighbour: Receiver;
let host: AcmeHost;
beforeAll(async () => {
  neighbour = await startReceiver();
  neighbour.answer = 200;
  // The attempts outlast the test: no place is given back while it waits.
  const webhooks = { durable: true, attemptTimeoutMs: 120_000 };
  host = await startAcme(webhooks, { egress: { allowLoopback: true } });
  host.receiver.answer = 'never';
});
afterAll(async () => {
  await host.stop();
  await neighbour.close();
});

const RECEIVERS = 40;

test(covers('webhooks.delivery.fair-between-subscriptions'), async () => {
  for (let count = 0; count < RECEIVERS; count++) {
    const body = { url: `${host.receiver.url}?${count}`, events: ['run.completed'], tenantId: 'acme-prod' };
    expect((await host.call('/v1/webhooks', { body })).status).toBe(201);
  }
  const body = { url: neighbour.url, events: ['run.completed'] };
  expect((await host.call('/webhooks', { key: OTHER_TENANT, major: '2', body })).status).toBe(201);
  for (let count = 0; count < 4; count++) await host.call('/v1/runs', { body: { workflowId: 'echo' } });
  // Three quarters of 64 places: all that one tenant can have.
  await eventually(() => host.receiver.bodies.length >= 48);

  const run = await host.call('/v1/runs', { key: OTHER_TENANT, body: { workflowId: 'echo' } });
  expect(run.status).toBe(201);
  await eventually(() => neighbour.bodies.length === 1);
  expect(host.receiver.bodies.length).toBe(48);
});
