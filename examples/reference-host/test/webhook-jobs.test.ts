import { randomUUID } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, OTHER_TENANT, READER, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({ durable: true, retryPolicy: { maxAttempts: 1, backoff: 'none' } });
});
afterEach(() => host.clear());
afterAll(() => host.stop());

/** Registers a subscription of the workspace acme-prod, and verifies its deliveries from now on. */
async function subscribe(events: readonly string[] = ['run.completed', 'run.failed']) {
  const body = { url: host.receiver.url, events, tenantId: 'acme-prod' };
  const registered = await host.call('/v1/webhooks', { body });
  host.receiver.trust(registered.body.secret);
  const { webhookId } = registered.body as { webhookId: string };
  return { webhookId, path: `/host/example/webhooks/${webhookId}` };
}

const run = async (workflowId = 'echo') =>
  (await host.call('/v1/runs', { body: { workflowId, inputs: {} } })).body.runId as string;
const deadLetters = async (path: string) =>
  (await host.call(`${path}/deliveries?state=dead-lettered&limit=200`)).body.deliveries as { deliveryId: string }[];
const post = (path: string, body: object, key?: string) => host.call(path, { body, ...(key && { key }) });

/** Waits until a job has ended, and returns it. */
async function ended(path: string, jobId: string) {
  const read = async () => (await host.call(`${path}/jobs/${jobId}`)).body;
  await eventually(async () => !['running', 'paused'].includes((await read()).state));
  return await read();
}

/** Makes dead letters of five runs that completed and two that failed. */
async function withDeadLetters() {
  const { path, webhookId } = await subscribe();
  host.receiver.answer = 500;
  for (let count = 0; count < 5; count++) await run();
  for (let count = 0; count < 2; count++) await run('fail');
  await eventually(async () => (await deadLetters(path)).length === 7);
  host.receiver.answer = undefined;
  return { path, webhookId };
}

describe(covers('webhooks.redrive-job.steps'), () => {
  const redrive = (path: string, body: object = {}, key?: string) =>
    post(`${path}/dead-letters/redrive-matching`, body, key);

  test('a dry run counts the matching dead letters, and a job queues those alone', async () => {
    const { path } = await withDeadLetters();
    const filter = { types: ['run.failed'], statuses: [500] };
    const counted = await redrive(path, { ...filter, dryRun: true });
    expect(counted).toMatchObject({ status: 200, body: { matching: 2, lookedAt: 7, isComplete: true } });
    expect((await redrive(path, { statuses: [503], dryRun: true })).body.matching).toBe(0);
    const later = new Date(Date.now() + 60_000).toISOString();
    expect((await redrive(path, { since: later, dryRun: true })).body.matching).toBe(0);
    const { status, body: job } = await redrive(path, filter);
    expect({ status, job }).toMatchObject({ status: 202, job: { kind: 'redrive', state: 'running', rate: 100 } });
    expect(await ended(path, job.jobId)).toMatchObject({ state: 'completed', lookedAt: 7, queued: 2, request: filter });
    await eventually(() => host.receiver.deliveries.length === 2);
    expect(new Set(host.receiver.deliveries.map(({ event }) => event.type))).toEqual(new Set(['run.failed']));
    expect(await deadLetters(path)).toHaveLength(5);
    expect((await host.call(`${path}/jobs`)).body.jobs).toMatchObject([{ jobId: job.jobId }]);
  });

  test('a job is paused, survives a crash of the host, and is resumed', async () => {
    const { path } = await withDeadLetters();
    const { job, move } = await host.killAfter(async () => {
      const { body: job } = await redrive(path, { rate: 1 });
      const move = (signal: string) => host.call(`${path}/jobs/${job.jobId}/${signal}`, { method: 'POST' });
      const paused = await move('pause');
      expect(paused).toMatchObject({ status: 200, body: { state: 'paused' } });
      expect((await move('pause')).status).toBe(200);
      return { job, move };
    });
    const before = (await host.call(`${path}/jobs/${job.jobId}`)).body;
    expect(before).toMatchObject({ state: 'paused', rate: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await host.call(`${path}/jobs/${job.jobId}`)).body).toEqual(before);
    expect((await move('resume')).body.state).toBe('running');
    await eventually(async () => (await host.call(`${path}/jobs/${job.jobId}`)).body.queued > before.queued);
    const cancelled = await move('cancel');
    expect(cancelled.body.state).toBe('cancelled');
    expect((await move('resume')).body.error).toBe('subscription_state_conflict');
    await eventually(() => host.receiver.deliveries.length === cancelled.body.queued);
    expect((await deadLetters(path)).length).toBe(7 - cancelled.body.queued);
  });

  test('access depends on scope, tenant and workspace; wrong bodies and a sixth open job are rejected', async () => {
    const { path } = await withDeadLetters();
    expect((await redrive(path, {}, READER)).status).toBe(403);
    expect((await redrive(path, {}, DEV)).status).toBe(403);
    expect((await redrive(path, {}, OTHER_TENANT)).status).toBe(404);
    for (const wrong of [{ rate: 0 }, { since: 'yesterday' }, { types: [] }, { all: true }]) {
      expect((await redrive(path, wrong)).body.error).toBe('validation_error');
    }
    const { body: job } = await redrive(path, { rate: 1 });
    expect((await host.call(`${path}/jobs/${job.jobId}`, { key: OTHER_TENANT })).status).toBe(404);
    expect((await host.call(`${path}/jobs/${job.jobId}/cancel`, { method: 'POST', key: READER })).status).toBe(403);
    const other = await subscribe();
    expect((await host.call(`${other.path}/jobs/${job.jobId}`)).status).toBe(404);
    await host.call(`${path}/jobs/${job.jobId}/pause`, { method: 'POST' });
    for (let open = 1; open < 5; open++) {
      const { body } = await redrive(path, { rate: 1 });
      await host.call(`${path}/jobs/${body.jobId}/pause`, { method: 'POST' });
    }
    expect((await redrive(path)).body.error).toBe('subscription_state_conflict');
  });
});

describe(covers('webhooks.replay-job.queued'), () => {
  test('a replay sends the events since a time again, with the ids and bytes of their first delivery', async () => {
    const { path } = await subscribe(['run.completed']);
    const early = await run();
    await eventually(() => host.receiver.deliveries.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const since = new Date().toISOString();
    const late = [await run(), await run()];
    await run('fail');
    await eventually(() => host.receiver.deliveries.length === 3);
    const ids = async () =>
      (await host.call(`${path}/deliveries?state=delivered`)).body.deliveries.map(
        ({ deliveryId }: { deliveryId: string }) => deliveryId,
      );
    await eventually(async () => (await ids()).length === 3);
    const before = await ids();
    const { status, body: job } = await post(`${path}/replay`, { since });
    expect(status).toBe(202);
    expect(await ended(path, job.jobId)).toMatchObject({ kind: 'replay', state: 'completed', queued: 2 });
    await eventually(() => host.receiver.deliveries.length === 5);
    const again = host.receiver.deliveries.slice(3);
    expect(again.map(({ runId }) => runId).toSorted()).toEqual(late.toSorted());
    expect(again.some(({ runId }) => runId === early)).toBe(false);
    const bodies = host.receiver.bodies.map(String);
    for (const body of bodies.slice(3)) expect(bodies.slice(0, 3)).toContain(body);
    await eventually(async () => (await ids()).length === 3);
    expect((await ids()).toSorted()).toEqual(before.toSorted());
  });

  test('a new subscription replays events from before its registration; wrong requests are rejected', async () => {
    const since = new Date().toISOString();
    const runs = [await run(), await run(), await run()];
    await eventually(async () => (await host.call(`/v1/runs/${runs[2]}`)).body.status === 'completed');
    const { path } = await subscribe();
    const { body: job } = await post(`${path}/replay`, { since, types: ['run.completed'] });
    expect(await ended(path, job.jobId)).toMatchObject({ state: 'completed', queued: 3 });
    await eventually(() => host.receiver.deliveries.length === 3);
    expect((await post(`${path}/replay`, {})).body.error).toBe('validation_error');
    expect((await post(`${path}/replay`, { since, types: ['run.started'] })).body.error).toBe('validation_error');
    expect((await post(`${path}/replay`, { since }, READER)).status).toBe(403);
    expect((await post(`${path}/replay`, { since }, OTHER_TENANT)).status).toBe(404);
  });
});

describe(covers('webhooks.owner-changes.idempotent'), () => {
  test('a repeated request for a job or a test delivery has no second effect', async () => {
    const { path } = await withDeadLetters();
    const requests: readonly (readonly [path: string, body: object])[] = [
      [`${path}/dead-letters/redrive-matching`, { rate: 1 }],
      [`${path}/replay`, { since: '2026-01-01T00:00:00Z', rate: 1 }],
      [`${path}/test`, { type: 'run.failed' }],
    ];
    for (const [to, body] of requests) {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await host.call(to, { body, headers });
      const again = await host.call(to, { body, headers });
      expect([first.status, first.headers.get('svc-idempotent-replay')]).toEqual([expect.any(Number), null]);
      expect([again.status, again.body]).toEqual([first.status, first.body]);
      expect(again.headers.get('svc-idempotent-replay')).toBe('true');
      const other = await host.call(to, { body: { ...body, rate: 2 }, headers });
      expect(other.status).toBe(to.endsWith('/test') ? 400 : 409);
    }
    expect((await host.call(`${path}/jobs`)).body.jobs).toHaveLength(2);
    const received = host.receiver.deliveries.map(({ event }): string => event.type);
    expect(received.filter((type) => type === 'example.webhook.test')).toHaveLength(1);
  });

  test('a request that is refused leaves its key free', async () => {
    const { path } = await withDeadLetters();
    const headers = { 'idempotency-key': randomUUID() };
    const to = `${path}/replay`;
    expect((await host.call(to, { body: { since: 'yesterday' }, headers })).status).toBe(400);
    expect((await host.call(to, { body: { since: '2026-01-01T00:00:00Z' }, headers })).status).toBe(202);
  });
});

describe(covers('webhooks.transfer-job.moved'), () => {
  test('the dead letters of a failed subscription move to the one that replaces it, with their ids', async () => {
    const failed = await subscribe(['run.completed']);
    host.receiver.answer = 410;
    const first = await run();
    await eventually(async () => (await host.call(failed.path)).body.state !== 'active');
    const second = await run();
    await eventually(async () => (await deadLetters(failed.path)).length === 2);
    const ids = (await deadLetters(failed.path)).map(({ deliveryId }) => deliveryId);
    host.receiver.answer = undefined;
    const { path, webhookId } = await subscribe(['run.failed']);
    const transfer = (from: string, to: string, key?: string) => post(`${from}/dead-letters/transfer`, { to }, key);
    expect((await transfer(failed.path, webhookId, READER)).status).toBe(403);
    expect((await transfer(failed.path, webhookId, OTHER_TENANT)).status).toBe(404);
    expect((await transfer(failed.path, 'whk_00000000000000000000000000')).status).toBe(404);
    expect((await transfer(path, failed.webhookId)).body.error).toBe('subscription_state_conflict');
    const { status, body: job } = await transfer(failed.path, webhookId);
    expect(status).toBe(202);
    expect(await ended(failed.path, job.jobId)).toMatchObject({ state: 'completed', queued: 2 });
    await eventually(() => host.receiver.deliveries.length === 2);
    expect(host.receiver.deliveries.map(({ runId }) => runId).toSorted()).toEqual([first, second].toSorted());
    expect(host.receiver.deliveries.every((delivery) => delivery.webhookId === webhookId)).toBe(true);
    const delivered = async () =>
      (await host.call(`${path}/deliveries?state=delivered`)).body.deliveries as { deliveryId: string }[];
    await eventually(async () => (await delivered()).length === 2);
    expect((await delivered()).map(({ deliveryId }) => deliveryId).toSorted()).toEqual(ids.toSorted());
    expect(await deadLetters(failed.path)).toEqual([]);
  });

  test('a subscription of another workspace or major does not take them over', async () => {
    const failed = await subscribe(['run.completed']);
    host.receiver.answer = 410;
    await run();
    await eventually(async () => (await host.call(failed.path)).body.state !== 'active');
    const body = { url: host.receiver.url, events: ['run.completed'] };
    const { webhookId } = (await host.call('/webhooks', { body, major: '2' })).body;
    const refused = await post(`${failed.path}/dead-letters/transfer`, { to: webhookId });
    expect(refused).toMatchObject({ status: 409, body: { error: 'subscription_state_conflict' } });
  });
});
