import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { type Clock, createHost, type Host, type LogRecord, systemClock, type Transport } from '@svc/host-kit';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { once } from '../../src/idempotency/once.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { storeClock } from '../../src/ports/store-clock.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';

const HOUR_MS = 3_600_000;
const KEY = 'operator-key-of-the-two-clocks-0123456789';
const RECORD = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' };
const SCOPES = ['runs:create', 'runs:read', 'webhooks:manage'];
const POLICY = { maxAttempts: 5, backoff: 'fixed', delayMs: 200, maxDelayMs: 1000 } as const;
const RUNS = 40;

/** The clock of a machine that is ahead by `aheadMs`. Its monotonic time is right. */
function clockAhead(aheadMs: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + aheadMs };
}

const postgres = await startPostgres();
const stopping: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stopping.splice(0)) await stop();
  await postgres.stop();
});

/** Successful attempts by delivery, and the deliveries whose first attempt failed. */
const delivered = new Map<string, number>();
const failedOnce = new Set<string>();

/** Answers slowly, so that the hosts look for due deliveries while attempts are under way. Fails each tenth delivery once. */
const transport: Transport = async ({ body, url }) => {
  await systemSleep(150);
  const { runId, event } = JSON.parse(new TextDecoder().decode(body));
  const name = `${url} ${runId} ${event.sequence}`;
  const isFailing = !failedOnce.has(name) && failedOnce.size < RUNS / 10;
  if (isFailing) failedOnce.add(name);
  else delivered.set(name, (delivered.get(name) ?? 0) + 1);
  return { kind: 'answered', status: isFailing ? 500 : 204, retryAfter: undefined, durationMs: 150 };
};

function systemSleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function startHost(aheadMs: number) {
  const logged: LogRecord[] = [];
  const clock = clockAhead(aheadMs);
  const host = createHost({
    store: await postgresStore({ url: postgres.url, connections: 8 }),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...RECORD, scopes: SCOPES, mode: 'live' }]) })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    ports: { clock, transport, log: (record) => logged.push(record) },
    webhooks: { durable: true, retryPolicy: POLICY },
  });
  await host.start();
  stopping.push(() => host.stop(100));
  return { host, logged };
}

async function call(host: Host, path: string, body?: object) {
  const request = new Request(`http://host.test${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const response = await host.fetch(request);
  expect(response.status).toBeLessThan(300);
  return response.json();
}

let hosts: readonly Awaited<ReturnType<typeof startHost>>[];
beforeAll(async () => {
  hosts = [await startHost(0), await startHost(HOUR_MS)];
});

test(`${covers('webhooks.durable.at-least-once')} Two hosts an hour apart deliver every event once.`, async () => {
  const [right, ahead] = hosts.map(({ host }) => host);
  if (right === undefined || ahead === undefined) throw new Error('There are two hosts.');
  for (const name of ['a', 'b']) {
    const subscription = { url: `https://${name}.example/`, events: ['run.completed'], tenantId: 'acme-prod' };
    await call(right, '/v1/webhooks', subscription);
  }
  for (let count = 0; count < RUNS; count++) {
    await call(count % 2 === 0 ? right : ahead, '/v1/runs', { workflowId: 'any' });
  }
  await vi.waitUntil(() => delivered.size === 2 * RUNS, { timeout: 20_000, interval: 20 });
  // Time for a second attempt: each host looks for due deliveries every second.
  await systemSleep(1500);
  expect([...delivered].filter(([, times]) => times > 1)).toEqual([]);
  expect(failedOnce.size).toBe(RUNS / 10);
});

test('a host whose clock differs from that of the database says so once in its log, and in its status', async () => {
  const told = hosts.map(({ logged }) => logged.filter(({ event }) => event === 'clock.differs'));
  expect(told[0]).toEqual([]);
  expect(told[1]).toMatchObject([{ level: 'warn', aheadMs: expect.closeTo(HOUR_MS, -3) }]);
  for (const [index, expected] of [0, HOUR_MS].entries()) {
    const host = hosts[index]?.host;
    const status = host && (await call(host, '/host/example/status'));
    expect(Math.abs(status.clockAheadMs - expected)).toBeLessThan(1000);
  }
});

test('a key that one host executes is in flight for a host an hour ahead', async () => {
  const store = await postgresStore({ url: postgres.url, connections: 4 });
  const onceOn = (aheadMs: number) => {
    const clock = clockAhead(aheadMs);
    const log = () => {};
    const secrets = secretBox(new Uint8Array(32), systemRandom);
    const ofStore = storeClock({ clock, store, log });
    return once({ store, secrets, clock, storeClock: ofStore, random: systemRandom, log, retentionMs: 24 * HOUR_MS });
  };
  const tenancy = { tenant: 'acme', workspaces: ['acme-prod'], mode: 'live' } as const;
  const request = { tenancy, key: 'k-1', operation: 'createRun', parts: ['1'] };
  const outcome = { status: 201, headers: {}, body: '{}' };
  const refused = (error: unknown) => {
    throw error;
  };
  let finish = () => {};
  let executions = 0;
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const perform = async () => {
    executions += 1;
    begun();
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return outcome;
  };
  const first = onceOn(0)(request, { perform, refused });
  await hasBegun;
  await expect(onceOn(HOUR_MS)(request, { perform, refused })).rejects.toMatchObject({ code: 'idempotency_in_flight' });
  finish();
  await first;
  expect(executions).toBe(1);
  await store.close();
});
