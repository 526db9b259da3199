import { DatabaseSync } from 'node:sqlite';
import { covers } from '@svc/tools/covers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, OTHER_TENANT, READER, startAcme, WIDE } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({ durable: true, ...RETRIES });
});
afterEach(() => host.clear());
afterAll(() => host.stop());

const RETRIES = { retryPolicy: { maxAttempts: 2, backoff: 'fixed', delayMs: 10 } };

/** Registers a subscription of the workspace acme-prod. */
async function owned(webhooks: object = {}) {
  if (Object.keys(webhooks).length > 0) await host.reboot(webhooks);
  const body = { url: host.receiver.url, events: ['run.completed'], tenantId: 'acme-prod' };
  const registered = await host.call('/v1/webhooks', { body });
  host.receiver.trust(registered.body.secret);
  const { webhookId } = registered.body as { webhookId: string };
  return { webhookId, path: `/host/example/webhooks/${webhookId}` };
}

const run = () => host.call('/v1/runs', { body: { workflowId: 'echo', inputs: {} } });
const deliveriesOf = async (path: string, query = '') =>
  (await host.call(`${path}/deliveries${query}`)).body.deliveries as Record<string, string>[];

describe(covers('webhooks.deliveries.listed'), () => {
  test('a delivery is shown with its attempts and their phases, and without content', async () => {
    const { path } = await owned();
    await run();
    await eventually(async () => (await deliveriesOf(path, '?state=delivered')).length === 1);
    const [listed] = await deliveriesOf(path);
    const { status, body } = await host.call(`${path}/deliveries/${listed?.deliveryId}`);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        ...listed,
        state: 'delivered',
        attempts: 1,
        lastStatus: 200,
        lastAttempts: [{ attempt: 1, outcome: 'delivered', status: 200, deliveryId: listed?.deliveryId }],
      },
    });
    const phases = body.lastAttempts[0].phases as { phase: string; durationMs: number }[];
    expect(phases.map(({ phase }) => phase)).toEqual(['resolve', 'connect', 'request', 'response']);
    expect(phases.every(({ durationMs }) => durationMs >= 0)).toBe(true);
    const { body: sent = '' } = { body: host.receiver.bodies[0]?.toString() };
    expect(sent).toContain('outputs');
    for (const secret of ['outputs', 'sha256=', 'signature']) expect(JSON.stringify(body)).not.toContain(secret);
  });

  test('the list has filters and pages, and a cursor is valid for its own subscription only', async () => {
    const { path } = await owned();
    for (let turn = 0; turn < 5; turn++) await run();
    await eventually(async () => (await deliveriesOf(path, '?state=delivered')).length === 5);
    const seen: string[] = [];
    let query = '?limit=2';
    for (let pages = 0; pages < 3; pages++) {
      const { body } = await host.call(`${path}/deliveries${query}`);
      seen.push(...body.deliveries.map(({ deliveryId }: { deliveryId: string }) => deliveryId));
      query = `?limit=2&cursor=${body.nextCursor}`;
    }
    expect(new Set(seen).size).toBe(5);
    expect(await deliveriesOf(path, '?type=run.failed')).toEqual([]);
    expect(await deliveriesOf(path, '?type=run.completed')).toHaveLength(5);
    expect(await deliveriesOf(path, `?since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
    expect(await deliveriesOf(path, `?until=${new Date(Date.now() + 60_000).toISOString()}`)).toHaveLength(5);
    for (const wrong of ['state=gone', 'since=yesterday', 'limit=x', 'cursor=x']) {
      expect((await host.call(`${path}/deliveries?${wrong}`)).body.error).toBe('validation_error');
    }
  });

  test('a list of dead letters begins at any time', async () => {
    const { path } = await owned();
    host.receiver.answer = 500;
    for (let turn = 1; turn <= 3; turn++) {
      await run();
      await eventually(async () => (await deliveriesOf(path, '?state=dead-lettered')).length === turn);
    }
    const [newest, ...older] = await deliveriesOf(path, '?state=dead-lettered');
    const before = `?state=dead-lettered&deadLetteredBefore=${newest?.deadLetteredAt}`;
    expect(await deliveriesOf(path, before)).toEqual(older);
    const { body } = await host.call(`${path}/deliveries${before}&limit=1`);
    expect(body.deliveries).toEqual(older.slice(0, 1));
    expect(await deliveriesOf(path, `?state=dead-lettered&limit=1&cursor=${body.nextCursor}`)).toEqual(older.slice(1));
    for (const wrong of ['deadLetteredBefore=2026-01-31T12:00:00Z', 'state=dead-lettered&deadLetteredBefore=x']) {
      expect((await host.call(`${path}/deliveries?${wrong}`)).body.error).toBe('validation_error');
    }
  });

  test('access depends on scope, tenant and workspace, and an unknown delivery is 404', async () => {
    const { path, webhookId } = await owned();
    await run();
    await eventually(async () => (await deliveriesOf(path)).length === 1);
    const [listed] = await deliveriesOf(path);
    const detail = `/deliveries/${listed?.deliveryId}`;
    for (const suffix of ['/deliveries', detail]) {
      expect((await host.call(path + suffix, { key: WIDE })).status).toBe(200);
      expect((await host.call(path + suffix, { key: READER })).status).toBe(403);
      expect((await host.call(path + suffix, { key: DEV })).status).toBe(403);
      expect((await host.call(path + suffix, { key: OTHER_TENANT })).status).toBe(404);
    }
    expect((await host.call(`${path}/deliveries/dlv_00000000000000000000000000`)).status).toBe(404);
    expect((await host.call(`${path}/deliveries/acme~2F${listed?.deliveryId}`)).status).toBe(200);
    const foreign = await host.call(`/host/example/webhooks/umbrella~2F${webhookId}${detail}`);
    expect(foreign.body.error).toBe('id_tenant_mismatch');
  });
});

describe(covers('webhooks.deliveries.resend'), () => {
  test('a delivered event is sent again with the same bytes and the same id, twice', async () => {
    const { path } = await owned();
    await run();
    await eventually(async () => (await deliveriesOf(path, '?state=delivered')).length === 1);
    const [listed] = await deliveriesOf(path);
    for (const times of [2, 3]) {
      const again = await host.call(`${path}/deliveries/${listed?.deliveryId}/resend`, { method: 'POST' });
      expect(again).toMatchObject({ status: 200, body: { queued: true } });
      await eventually(() => host.receiver.bodies.length === times);
      await eventually(async () => (await deliveriesOf(path, '?state=delivered')).length === 1);
    }
    const [first, ...others] = host.receiver.bodies.map(String);
    expect(others).toEqual([first, first]);
    const { body } = await host.call(`${path}/deliveries/${listed?.deliveryId}`);
    expect(body.lastAttempts).toHaveLength(3);
    expect(body.dedupKey).toBe(listed?.dedupKey);
  });

  test('a dead letter is sent again, and a delivery of a failed subscription is not', async () => {
    const { path } = await owned();
    host.receiver.answer = 500;
    await run();
    await eventually(async () => (await deliveriesOf(path, '?state=dead-lettered')).length === 1);
    const [dead] = await deliveriesOf(path);
    const resend = (key?: string) =>
      host.call(`${path}/deliveries/${dead?.deliveryId}/resend`, { method: 'POST', ...(key && { key }) });
    expect((await resend(READER)).status).toBe(403);
    expect((await resend(OTHER_TENANT)).status).toBe(404);
    host.receiver.answer = undefined;
    expect((await resend()).body).toEqual({ queued: true });
    await eventually(() => host.receiver.deliveries.length === 1);
    host.receiver.answer = 410;
    await run();
    await eventually(async () => (await host.call(path)).body.state === 'failed');
    expect((await resend()).body.error).toBe('subscription_state_conflict');
  });

  test('a dead letter that a clock ahead has stamped is sent again', async () => {
    const { path, webhookId } = await owned();
    host.receiver.answer = 500;
    await run();
    await eventually(async () => (await deliveriesOf(path, '?state=dead-lettered')).length === 1);
    const [dead] = await deliveriesOf(path);
    const database = new DatabaseSync(host.path('svc.db'), { timeout: 10_000 });
    const ahead = database.prepare(
      `UPDATE deliveries SET dead_at = dead_at + ? WHERE state = 'dead' AND webhook_id = ?`,
    );
    expect(ahead.run(86_400_000, webhookId).changes).toBe(1);
    database.close();
    host.receiver.answer = undefined;
    const again = await host.call(`${path}/deliveries/${dead?.deliveryId}/resend`, { method: 'POST' });
    expect(again.body).toEqual({ queued: true });
    await eventually(() => host.receiver.deliveries.length === 1);
  });
});

describe(covers('webhooks.test-delivery.sent'), () => {
  const send = (path: string, body: object = {}, key?: string) =>
    host.call(`${path}/test`, { body, ...(key && { key }) });

  test('a test is signed, names the type and holds an example; its ids are those of no run', async () => {
    const { path, webhookId } = await owned();
    const { status, body } = await send(path, { type: 'run.failed' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { outcome: 'delivered', status: 200, eventType: 'example.webhook.test', deliveryId: expect.any(String) },
    });
    expect(body.phases.map(({ phase }: { phase: string }) => phase)).toContain('response');
    const [delivered] = host.receiver.deliveries;
    expect(delivered).toMatchObject({ webhookId, workspaceId: 'acme-prod', event: { type: 'example.webhook.test' } });
    expect(delivered?.event.payload).toMatchObject({
      type: 'run.failed',
      example: { error: { code: expect.any(String) } },
    });
    expect((await host.call(`/v1/runs/${delivered?.runId}`)).status).toBe(404);
    await send(path);
    expect(host.receiver.deliveries[1]?.event).toMatchObject({ sequence: 1, payload: { type: 'run.completed' } });
  });

  test('a test changes no state: neither outage, attempts nor dead letters', async () => {
    const { path } = await owned();
    const before = (await host.call(path)).body;
    host.receiver.answer = 500;
    for (let turn = 0; turn < 5; turn++) {
      expect((await send(path)).body).toMatchObject({ outcome: 'failed', status: 500 });
    }
    host.receiver.answer = 410;
    expect((await send(path)).body).toMatchObject({ outcome: 'failed', status: 410 });
    expect((await host.call(path)).body).toEqual(before);
    expect(await deliveriesOf(path)).toEqual([]);
  });

  test('a failed subscription can be tested; an unknown type, another tenant or a reader cannot test', async () => {
    const { path } = await owned();
    host.receiver.answer = 410;
    await run();
    await eventually(async () => (await host.call(path)).body.state === 'failed');
    host.receiver.answer = undefined;
    expect((await send(path)).body.outcome).toBe('delivered');
    expect((await host.call(path)).body.state).toBe('failed');
    expect((await send(path, { type: 'run.unknown' })).body.error).toBe('validation_error');
    expect((await send(path, { type: 'run.failed', body: {} })).status).toBe(400);
    expect((await send(path, {}, READER)).status).toBe(403);
    expect((await send(path, {}, DEV)).status).toBe(403);
    expect((await send(path, {}, OTHER_TENANT)).status).toBe(404);
  });
});

// The last test, because it closes the receiver.
test(`${covers('webhooks.deliveries.listed')} an unavailable receiver shows no phases, which would map the network`, async () => {
  const { path } = await owned();
  await host.receiver.close();
  await run();
  await eventually(async () => (await deliveriesOf(path, '?state=dead-lettered')).length === 1);
  const [dead] = await deliveriesOf(path);
  const { body } = await host.call(`${path}/deliveries/${dead?.deliveryId}`);
  expect(body).toMatchObject({ state: 'dead-lettered', attempts: 2, deadLetteredAt: expect.stringMatching(/Z$/) });
  expect(body.lastAttempts).toMatchObject([{ reason: 'unavailable' }, { reason: 'unavailable' }]);
  expect(body.lastAttempts[0].phases).toBeUndefined();
});
