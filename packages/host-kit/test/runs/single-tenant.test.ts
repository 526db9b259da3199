import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { asDescribed } from '@svc/tools/as-described';
import { covers } from '@svc/tools/covers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { yieldToLoop } from '../../src/ports/clock.ts';

const KEY = 'operator-key-of-the-one-tenant-0123456789';

const HOOK = { url: 'https://hooks.example/', events: ['run.started'] };
const PLACES = [
  { major: '1', prefix: '/v1', hook: { ...HOOK, tenantId: 'acme-prod' } },
  { major: '2', prefix: '', hook: HOOK },
];

/** Returns a run, its fork and its delivery, as a host shows them. */
async function told({ major, prefix, hook }: (typeof PLACES)[number], singleTenant: boolean) {
  let deliver = (_body: string): void => {};
  const delivered = new Promise<string>((resolve) => {
    deliver = resolve;
  });
  const scopes = ['runs:create', 'runs:read', 'webhooks:manage'];
  const key = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' };
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...key, scopes, mode: 'live' }]) })],
    engine: {
      version: 1,
      forks: ['branch'],
      execute: async () => ({ status: 'completed', outputs: {} }),
    },
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true, singleTenant },
    ports: {
      async transport({ body }) {
        deliver(new TextDecoder().decode(body));
        return { kind: 'answered', status: 204, retryAfter: undefined, durationMs: 1 };
      },
    },
  });
  await host.start();
  onTestFinished(() => host.stop(0));
  const send = asDescribed(host.fetch);

  async function call(path: string, body?: object) {
    const response = await send(`http://host.test${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${KEY}`,
        'svc-version': major,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBeLessThan(300);
    return response.json();
  }
  /** Returns a run and its first event as soon as the run has ended. */
  async function read(statusUrl: string) {
    for (;;) {
      const { events, isTerminal } = await call(`${statusUrl}/events/poll?timeout=60`);
      if (isTerminal) return { run: await call(statusUrl), started: events[0].payload };
      await yieldToLoop();
    }
  }

  await call(`${prefix}/webhooks`, hook);
  const { statusUrl } = await call(`${prefix}/runs`, { workflowId: 'any' });
  const created = await read(statusUrl);
  const { runId } = await call(`${statusUrl}:fork`, { mode: 'branch', fromSeq: 1 });
  const forked = await read(`${prefix}/runs/${encodeURIComponent(runId)}`);
  const description = await call(`${prefix}/openapi.json`);
  const { required } = description.components.schemas.RunSnapshot;
  return { created, forked, delivery: JSON.parse(await delivered), required };
}

describe.each(PLACES)(`${covers('runs.owner.single-tenant-none')} Major $major`, (place) => {
  test('shows no owner on a run, its start, its forks and its deliveries, on a host of one tenant', async () => {
    const { created, forked, delivery, required } = await told(place, true);
    for (const { run, started } of [created, forked]) {
      expect(run.status).toBe('completed');
      expect(run).not.toHaveProperty('owner');
      expect(started).toMatchObject({ workflowId: 'any' });
      expect(started).not.toHaveProperty('owner');
    }
    expect(delivery.event.payload).not.toHaveProperty('owner');
    // In major 2 it is there exactly when the owner names it.
    expect('workspaceId' in delivery).toBe(place.major === '1');
    expect(required).not.toContain('owner');
  });

  test('shows the owner of each on a host of several tenants', async () => {
    const { created, forked, delivery } = await told(place, false);
    const owner = expect.objectContaining({ tenant: 'acme', workspace: 'acme-prod' });
    for (const { run, started } of [created, forked]) expect([run.owner, started.owner]).toEqual([owner, owner]);
    expect(delivery).toMatchObject({ workspaceId: 'acme-prod', event: { payload: { owner } } });
  });
});
