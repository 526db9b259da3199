import { covers } from '@svc/tools/covers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, OTHER_TENANT, READER, startAcme } from './acme-host.ts';
import { eventually, type Receiver } from './booted-host.ts';

let host: AcmeHost;
let receiver: Receiver;

beforeAll(async () => {
  host = await startAcme({
    durable: true,
    retryPolicy: { maxAttempts: 2, backoff: 'fixed', delayMs: 20 },
  });
  receiver = host.receiver;
});
afterEach(() => host.clear());
afterAll(() => host.stop());

const call: AcmeHost['call'] = (path, options) => host.call(path, options);

async function register(): Promise<string> {
  const body = { url: `${receiver.url}?token=in-the-query`, events: ['run.completed'], tenantId: 'acme-prod' };
  const registered = await call('/v1/webhooks', { body });
  expect(registered.status).toBe(201);
  receiver.trust(registered.body.secret);
  return registered.body.webhookId;
}

const run = async () => (await call('/v1/runs', { body: { workflowId: 'echo', inputs: {} } })).body.runId as string;
const letters = (webhookId: string, query = '') =>
  call(`/v1/webhooks/${webhookId}/dead-letters?tenantId=acme-prod${query}`);

async function withDeadLetters(count: number) {
  const webhookId = await register();
  receiver.answer = 500;
  const runs = [];
  for (let turn = 0; turn < count; turn++) runs.push(await run());
  await eventually(async () => (await letters(webhookId)).body.deliveries.length === count);
  receiver.answer = undefined;
  return { webhookId, runs };
}

describe(
  covers('webhooks.dead-letters.listed', 'webhooks.dead-letters.content-free', 'webhooks.dead-letters.v1-run-ids'),
  () => {
    test('major 1 lists the dead letters of a workspace, with bare ids', async () => {
      const { webhookId, runs } = await withDeadLetters(1);
      const { status, body } = await letters(webhookId);
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          deliveries: [
            {
              deliveryId: expect.stringMatching(/^dlv_/),
              webhookId,
              runId: runs[0],
              eventId: expect.stringMatching(/^evt_/),
              eventType: 'run.completed',
              attempts: 2,
              deadLetteredAt: expect.stringMatching(/Z$/),
              expiresAt: expect.stringMatching(/Z$/),
              reason: 'retries_exhausted',
              lastStatus: 500,
            },
          ],
        },
      });
      const [letter] = body.deliveries;
      const days = (Date.parse(letter.expiresAt) - Date.parse(letter.deadLetteredAt)) / 86_400_000;
      expect(days).toBe(30);
    });

    test('major 2 lists the dead letters of a subscription, with ids bound to the tenant', async () => {
      const { webhookId, runs } = await withDeadLetters(1);
      const { status, body } = await call(`/webhooks/acme~2F${webhookId}/dead-letters`, { major: '2' });
      expect(status).toBe(200);
      expect(body.deliveries[0]).toMatchObject({
        webhookId: `acme/${webhookId}`,
        runId: `acme/${runs[0]}`,
        deliveryId: expect.stringMatching(/^acme\/dlv_/),
      });
    });

    test('pages hold each dead letter once, and a cursor is valid for its own subscription only', async () => {
      const { webhookId } = await withDeadLetters(5);
      const seen: string[] = [];
      let query = '&limit=2';
      for (let pages = 0; pages < 3; pages++) {
        const { body } = await letters(webhookId, query);
        seen.push(...body.deliveries.map(({ runId }: { runId: string }) => runId));
        query = `&limit=2&cursor=${body.nextCursor}`;
        if (pages === 2) expect(body.nextCursor).toBeUndefined();
        else {
          const other = await register();
          expect((await letters(other, query)).body.error).toBe('validation_error');
        }
      }
      expect(new Set(seen).size).toBe(5);
      expect((await letters(webhookId, '&limit=x')).status).toBe(400);
      expect((await letters(webhookId, '&cursor=x')).status).toBe(400);
    });

    test('a request without the right workspace, tenant or scope is rejected', async () => {
      const { webhookId } = await withDeadLetters(1);
      const path = `/v1/webhooks/${webhookId}/dead-letters`;
      expect((await call(path)).status).toBe(400);
      expect((await call(`${path}?tenantId=acme`)).status).toBe(403);
      expect((await call(`${path}?tenantId=acme-dev`, { key: DEV })).status).toBe(403);
      expect((await call(`${path}?tenantId=hive`, { key: OTHER_TENANT })).status).toBe(404);
      expect((await call(`${path}?tenantId=acme-prod`, { key: READER })).status).toBe(403);
      const bound = await call(`/webhooks/acme~2F${webhookId}/dead-letters`, { key: OTHER_TENANT, major: '2' });
      expect(bound).toMatchObject({ status: 403, body: { error: 'id_tenant_mismatch' } });
      await call(`/v1/webhooks/${webhookId}?tenantId=acme-prod`, { method: 'DELETE' });
      expect((await letters(webhookId)).status).toBe(404);
    });
  },
);

describe(covers('operations.host.operator-redrive'), () => {
  test('a redrive delivers one dead letter by its id, or all of them', async () => {
    const { webhookId, runs } = await withDeadLetters(3);
    const path = `/host/example/webhooks/${webhookId}/dead-letters/redrive`;
    const [newest] = (await letters(webhookId)).body.deliveries;
    expect((await call(path, { body: { deliveryIds: [newest.deliveryId] } })).body).toEqual({ redriven: 1 });
    await eventually(() => receiver.deliveries.length === 1);
    expect(receiver.deliveries[0]?.runId).toBe(newest.runId);
    expect((await call(path, { body: {} })).body).toEqual({ redriven: 2 });
    await eventually(() => receiver.deliveries.length === 3);
    expect(new Set(receiver.deliveries.map(({ runId }) => runId))).toEqual(new Set(runs));
    expect((await letters(webhookId)).body.deliveries).toEqual([]);
    expect((await call(path, { body: {} })).body).toEqual({ redriven: 0 });
    expect((await call(path, { body: { deliveryIds: [] } })).status).toBe(400);
    expect((await call(path, { body: { all: true } })).status).toBe(400);
  });
});

describe(covers('operations.host.operator-pause-resume'), () => {
  test('an event during a pause is delivered after the resume', async () => {
    const webhookId = await register();
    const paused = await call(`/host/example/webhooks/${webhookId}/pause`, { body: {}, method: 'POST' });
    expect(paused).toMatchObject({ status: 200, body: { state: 'paused' } });
    const runs = [await run(), await run()];
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(receiver.statuses).toEqual([]);
    expect((await call(`/host/example/webhooks/${webhookId}/resume`, { method: 'POST' })).body.state).toBe('active');
    await eventually(() => receiver.deliveries.length === 2);
    expect(new Set(receiver.deliveries.map(({ runId }) => runId))).toEqual(new Set(runs));
  });

  test('a 410 fails the subscription at once; it cannot be paused, resumed or redriven', async () => {
    const webhookId = await register();
    receiver.answer = 410;
    await run();
    const view = async () => (await call(`/host/example/webhooks/${webhookId}`)).body;
    await eventually(async () => (await view()).state === 'failed');
    await run();
    await eventually(async () => (await view()).state === 'dead-lettered');
    expect(receiver.statuses).toEqual([410]);
    expect((await letters(webhookId)).body.deliveries).toHaveLength(2);
    for (const action of ['pause', 'resume', 'dead-letters/redrive']) {
      const refused = await call(`/host/example/webhooks/${webhookId}/${action}`, { body: {} });
      expect(refused).toMatchObject({ status: 409, body: { error: 'subscription_state_conflict' } });
    }
  });
});

describe(covers('operations.host.operator-webhooks', 'webhooks.secret.only-fingerprint-readable'), () => {
  test('the view of a subscription has its circuit and last attempts, and no secret', async () => {
    const { webhookId } = await withDeadLetters(1);
    const { body, headers } = await call(`/host/example/webhooks/${webhookId}`);
    expect(body).toMatchObject({
      webhookId,
      mode: 'live',
      major: 1,
      url: receiver.url,
      state: 'active',
      durable: true,
      circuit: { state: 'closed', consecutiveFailures: 0 },
      secretFingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
      lastAttempts: [
        { attempt: 2, outcome: 'failed', status: 500, eventType: 'run.completed' },
        { attempt: 1, outcome: 'failed', status: 500, eventType: 'run.completed' },
      ],
    });
    expect(JSON.stringify(body)).not.toContain('in-the-query');
    expect(headers.get('svc-version')).toBeNull();
    const list = await call('/host/example/webhooks?limit=1');
    expect(list.body.webhooks).toMatchObject([{ webhookId }]);
  });

  test('the list has pages and holds only subscriptions of the own tenant', async () => {
    const ids = [await register(), await register(), await register()].sort();
    const first = (await call('/host/example/webhooks?limit=2')).body;
    const second = (await call(`/host/example/webhooks?limit=2&after=${first.nextAfter}`)).body;
    const listed = [...first.webhooks, ...second.webhooks].map(({ webhookId }) => webhookId);
    expect(listed).toEqual(ids);
    expect((await call('/host/example/webhooks', { key: OTHER_TENANT })).body).toEqual({ webhooks: [] });
    expect((await call('/host/example/webhooks', { key: DEV })).body).toEqual({ webhooks: [] });
  });

  test('access depends on scope, tenant and path, not on the protocol version', async () => {
    const webhookId = await register();
    const path = `/host/example/webhooks/${webhookId}`;
    expect((await fetch(host.url() + path)).status).toBe(401);
    expect((await call(path, { key: READER })).body).toMatchObject({ error: 'forbidden' });
    expect((await call(path, { key: OTHER_TENANT })).status).toBe(404);
    expect((await call(path, { key: DEV })).status).toBe(403);
    expect((await call(path, { major: '9' })).status).toBe(200);
    expect((await call(path, { method: 'DELETE' })).status).toBe(405);
    expect((await call('/host/other/webhooks')).status).toBe(404);
    expect((await call('/host/example/webhooks/x')).status).toBe(404);
    expect((await call(`/host/example/webhooks/umbrella~2F${webhookId}`)).body.error).toBe('id_tenant_mismatch');
  });
});

describe(
  covers('webhooks.registration.v1-tenant-id-optional-switch', 'webhooks.registration.v1-tenant-id-required'),
  () => {
    const body = () => ({ url: receiver.url, events: ['run.completed'] });

    test('rejects a registration without tenantId by default', async () => {
      const refused = await call('/v1/webhooks', { body: body() });
      expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    });

    test('with tenantIdOptional, registers in the only workspace and removes in any workspace in reach', async () => {
      await host.reboot({ tenantIdOptional: true });
      const { status, body: registered } = await call('/v1/webhooks', { body: body() });
      expect(status).toBe(201);
      expect((await call(`/host/example/webhooks/${registered.webhookId}`)).body.workspaces).toEqual(['acme-prod']);
      expect((await call('/v1/webhooks', { key: OTHER_TENANT, body: body() })).status).toBe(400);
      const path = `/v1/webhooks/${registered.webhookId}`;
      expect((await call(path, { method: 'DELETE', key: DEV })).status).toBe(403);
      expect((await call(path, { method: 'DELETE', key: OTHER_TENANT })).status).toBe(404);
      expect((await call(path, { method: 'DELETE' })).status).toBe(204);
    });
  },
);
