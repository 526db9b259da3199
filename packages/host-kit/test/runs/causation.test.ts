import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type MountDefinition } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { yieldToLoop } from '../../src/ports/clock.ts';

const KEY = 'operator-key-of-the-bridge-0123456789';
const DELIVERY = 'dlv_01k0p3v5tq9d8m2x4c6b8n0r1s';

/** A bridge: every delivery to it starts a run. */
const bridge: MountDefinition = ({ runs }) => ({
  name: 'bridge',
  path: '/bridge',
  routes: [
    {
      method: 'POST',
      path: '/bridge/{deliveryId}',
      scope: 'runs:create',
      takesBody: false,
      async serve(call) {
        const run = await runs.create(call, {
          workflowId: 'any',
          inputs: {},
          scope: undefined,
          configurable: undefined,
          tags: [],
          metadata: undefined,
          causationId: decodeURIComponent(call.params.deliveryId ?? ''),
        });
        return { status: 201, body: { runId: run.runId } };
      },
    },
  ],
});

const scopes = ['runs:create', 'runs:read'];
const key = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' };
const host = createHost({
  store: memoryStore(),
  authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...key, scopes, mode: 'live' }]) })],
  engine: async () => ({}),
  secretKey: new Uint8Array(32),
  authorization: { hasWorkspace: () => true },
  mounts: [bridge],
});
beforeAll(() => host.start());
afterAll(() => host.stop(0));

async function call(method: string, path: string, body?: object) {
  const major = path.startsWith('/runs/') ? '2' : '1';
  const headers = {
    authorization: `Bearer ${KEY}`,
    'svc-version': major,
    ...(body && { 'content-type': 'application/json' }),
  };
  const request = new Request(`http://host.test${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const response = await host.fetch(request);
  return { status: response.status, body: await response.json() };
}

/** Returns the events of a run as soon as it has ended. */
async function eventsOf(path: string): Promise<readonly { type: string; causationId?: string }[]> {
  for (;;) {
    const { status, body } = await call('GET', `${path}/events/poll?timeout=60`);
    if (status !== 200) throw new Error(`${path} answered ${status}.`);
    if (body.isTerminal) return body.events;
    await yieldToLoop();
  }
}

describe(covers('webhooks.durable.v1-causation-id'), () => {
  test.each([
    ['1', '/v1/runs/'],
    ['2', '/runs/'],
  ])('names the delivery that caused a run in run.started and in no other event, in major %s', async (major, path) => {
    const { body } = await call('POST', `/host/example/bridge/${DELIVERY}`);
    const address = major === '1' ? path + body.runId : `${path}acme~2F${body.runId}`;
    const [started, ...others] = await eventsOf(address);
    expect(started).toMatchObject({ type: 'run.started', causationId: DELIVERY });
    for (const event of others) expect(event).not.toHaveProperty('causationId');
  });

  test('names no cause of a run that a caller requested, and rejects a causationId of a caller', async () => {
    const { body } = await call('POST', '/v1/runs', { workflowId: 'any' });
    const [started] = await eventsOf(`/v1/runs/${body.runId}`);
    expect(started).not.toHaveProperty('causationId');
    const refused = await call('POST', '/v1/runs', { workflowId: 'any', causationId: DELIVERY });
    expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error' } });
  });

  test.each(['%20', 'a%0Ab', 'x'.repeat(257)])('rejects %s as the id of a cause', async (id) => {
    expect(await call('POST', `/host/example/bridge/${id}`)).toMatchObject({
      status: 400,
      body: { error: 'validation_error', details: { fields: [{ field: 'causationId' }] } },
    });
  });
});
