import { covers } from '@svc/tools/covers';
import { validator } from '@svc/tools/json-schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, OTHER_TENANT, READER, startAcme, WIDE } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost;
let path: string;
beforeAll(async () => {
  host = await startAcme({ durable: true });
});
beforeEach(async () => {
  const body = { url: host.receiver.url, events: ['run.completed'], tenantId: 'acme-prod' };
  const registered = await host.call('/v1/webhooks', { body });
  host.receiver.trust(registered.body.secret);
  path = `/host/example/webhooks/${registered.body.webhookId}`;
});
afterEach(() => host.clear());
afterAll(() => host.stop());

const edit = (body: object, key?: string) => host.call(path, { method: 'PATCH', body, ...(key && { key }) });
const run = (workflowId: string, tags: readonly string[] = []) =>
  host.call('/v1/runs', { body: { workflowId, inputs: {}, tags } });

describe(covers('webhooks.event-types.catalogue'), () => {
  test('every event type is listed in both spellings, and has a schema and an example', async () => {
    const { eventTypes } = (await host.call('/host/example/event-types')).body;
    const names = eventTypes.map(({ type }: { type: string }) => type);
    expect(names).toEqual(expect.arrayContaining(['run.completed', 'node.failed', 'approval.requested']));
    // No feature of the kit records it, so a subscription to it would wait for ever.
    expect(names).not.toContain('run.dead-lettered');
    expect(names.filter((name: string) => name.startsWith('example.'))).toHaveLength(5);
    for (const { description } of eventTypes) expect(description).toMatch(/^[A-Z].*\.$/);
    const detail = async (type: string) => (await host.call(`/host/example/event-types/${type}`)).body;
    for (const type of ['run.failed', 'approval.requested', 'interrupt.resolved', 'node.suspended', 'run.started']) {
      const { schema, example } = await detail(type);
      expect({ type, problems: validator(schema)(example) }).toEqual({ type, problems: [] });
    }
    expect(await detail('run.dead_lettered')).toMatchObject({
      type: 'run.dead-lettered',
      typeInMajor1: 'run.dead_lettered',
    });
    expect(await detail('example.subscription.failed')).toMatchObject({ typeInMajor1: 'example.subscription.failed' });
  });

  test('an unknown type is 404, and a caller without the scope is refused', async () => {
    expect((await host.call('/host/example/event-types/run.unknown')).status).toBe(404);
    expect((await host.call('/host/example/event-types', { key: READER })).status).toBe(403);
    expect((await fetch(`${host.url()}/host/example/event-types`)).status).toBe(401);
  });
});

describe(covers('webhooks.owned-subscriptions.edited'), () => {
  test('an edit of the event types takes effect with the next event, and survives a restart', async () => {
    await host.killAfter(async () => {
      const edited = await edit({ events: ['run.failed', 'example.subscription.failed'], description: 'of the night' });
      expect(edited).toMatchObject({
        status: 200,
        body: { events: ['run.failed', 'example.subscription.failed'], description: 'of the night', state: 'active' },
      });
      await run('echo');
      await run('fail');
      await eventually(() => host.receiver.deliveries.length === 1);
      expect(host.receiver.deliveries[0]?.event.type).toBe('run.failed');
    });
    expect((await host.call(path)).body).toMatchObject({ description: 'of the night' });
    expect((await edit({ description: null })).body.description).toBeUndefined();
    const { runId } = (await run('fail')).body;
    // The crash may have repeated the first delivery.
    await eventually(() => host.receiver.deliveries.some((delivery) => delivery.runId === runId));
  });

  test('an edit of the tags limits the runs', async () => {
    expect((await edit({ tags: ['nightly'] })).body.tags).toEqual(['nightly']);
    await run('echo');
    const tagged = await run('echo', ['nightly']);
    await eventually(() => host.receiver.deliveries.length === 1);
    expect(host.receiver.deliveries[0]?.runId).toBe(tagged.body.runId);
  });

  test('the url, the secret and an unknown event type cannot be edited', async () => {
    const before = (await host.call(path)).body;
    const wrong = [{}, { url: 'https://a.example/' }, { secret: 'x'.repeat(32) }, { events: [] }, { events: ['x.y'] }];
    for (const body of wrong) expect((await edit(body)).body.error).toBe('validation_error');
    // The vocabulary is that of the major of the subscription.
    expect((await edit({ events: ['run.dead-lettered'] })).body.error).toBe('validation_error');
    expect((await host.call(path)).body).toEqual(before);
  });

  test('access depends on scope, tenant and workspace', async () => {
    const body = { description: 'mine' };
    expect((await edit(body, READER)).status).toBe(403);
    expect((await edit(body, DEV)).status).toBe(403);
    expect((await edit(body, OTHER_TENANT)).status).toBe(404);
    expect((await edit(body, WIDE)).status).toBe(200);
    expect((await fetch(host.url() + path, { method: 'PATCH', body: '{}' })).status).toBe(401);
  });
});
