import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type Transport, type WorkflowEngine } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { expect, test } from 'vitest';
import { virtualClock } from '../simulation/virtual-clock.ts';

const START = Date.UTC(2026, 5, 1);
const GRACE_MS = 4_000;
const KEY = 'operator-key-of-this-test-0123456789';

test('gives an execution and an attempt that ignore a stop one common grace period', async () => {
  const world = virtualClock(START);
  let isPosting = false;
  const transport: Transport = ({ signal }) => {
    isPosting = true;
    const ended = { kind: 'failed', reason: 'aborted', durationMs: 0 } as const;
    return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(ended)));
  };
  const engine: WorkflowEngine = {
    execute: () => new Promise(() => {}),
  };
  const scopes = ['runs:create', 'webhooks:manage'];
  const record = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all', principal: 'p_1' } as const;
  const keys = memoryKeyStore([{ ...record, scopes, mode: 'live' }]);
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys, now: world.now })],
    engine,
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    ports: { clock: world.forHost(), transport },
  });
  await host.start();
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const request = new Request(`http://host.test${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect((await host.fetch(request)).status).toBe(201);
  };
  await post('/v1/webhooks', { url: 'https://example.com/hook', events: ['run.started'], tenantId: 'prod' });
  await post('/v1/runs', { workflowId: 'any', tenantId: 'prod' });
  while (!isPosting) await world.step(world.now());

  const from = world.now();
  let isStopped = false;
  const stopped = host.stop(GRACE_MS).then(() => {
    isStopped = true;
  });
  while (!isStopped && (await world.step(from + 10 * GRACE_MS)));
  await stopped;
  expect(world.now() - from).toBe(GRACE_MS);
});

test('begins nothing when it is stopped during its start', async () => {
  const world = virtualClock(START);
  const store = memoryStore();
  let goOn = (): void => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let claims = 0;
  const host = createHost({
    store: {
      ...store,
      sealingKeys: { ...store.sealingKeys, list: () => gate.then(store.sealingKeys.list) },
      deliveries: {
        ...store.deliveries,
        claim(request) {
          claims++;
          return store.deliveries.claim(request);
        },
      },
    },
    authenticate: [apiKeyLane({ keys: memoryKeyStore([]), now: world.now })],
    engine: { execute: () => new Promise(() => {}) },
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    ports: { clock: world.forHost() },
  });
  const started = host.start();
  await host.stop(0);
  goOn();
  await started;
  for (let steps = 0; steps < 100 && (await world.step(START + 60_000)); steps++);
  expect(claims).toBe(0);
  expect((await host.health()).checks).toContainEqual({ name: 'lifecycle', ok: false, reason: 'stopped' });
});
