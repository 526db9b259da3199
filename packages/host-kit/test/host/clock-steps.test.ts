import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type HostOptions, type LogRecord, type Transport } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { type HostClock, type VirtualClock, virtualClock } from '../simulation/virtual-clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const STEPS = [
  ['an hour back', -HOUR_MS],
  ['a day back', -DAY_MS],
  ['an hour forward', HOUR_MS],
  ['a day forward', DAY_MS],
] as const;
const BACK = STEPS.filter(([, ms]) => ms < 0);

const START = Date.UTC(2026, 5, 1);
const KEY = 'operator-key-of-the-clock-steps-0123456789';
const RECORD = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' };
const SCOPES = ['runs:create', 'runs:read', 'webhooks:manage'];
const POLICY = { maxAttempts: 1000, backoff: 'fixed', delayMs: 300, maxDelayMs: 2000 } as const;

/** Starts a host on a clock that the test sets. Its runs wait for 2.5 s. */
async function started(world: VirtualClock, clock: HostClock, options: Partial<HostOptions> = {}) {
  const logged: LogRecord[] = [];
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...RECORD, scopes: SCOPES, mode: 'live' }]), now: world.now })],
    engine: {
      async execute(_run, { until }) {
        await until(clock.now() + 2500);
        return { status: 'completed', outputs: {} };
      },
    },
    secretKey: new Uint8Array(32),
    ...options,
    webhooks: { durable: true, retryPolicy: POLICY, ...options.webhooks },
    authorization: { hasWorkspace: () => true, ...options.authorization },
    ports: {
      clock,
      transport: async () => ({ kind: 'answered', status: 204, retryAfter: undefined, durationMs: 1 }),
      log: (record) => logged.push(record),
      ...options.ports,
    },
  });
  await soon(host.start());
  const stop = () => soon(host.stop(0));
  onTestFinished(stop);

  /** Lets everything happen that is due now, until the promise is settled. */
  async function soon<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = promise.finally(() => {
      isSettled = true;
    });
    settled.catch(() => {});
    while (!isSettled) await world.run(world.now());
    return settled;
  }

  async function call(path: string, body?: object) {
    const request = new Request(`http://host.test${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return soon(host.fetch(request));
  }

  return {
    host,
    stop,
    soon,
    call,
    logged,
    run: async () => (await (await call('/v1/runs', { workflowId: 'any' })).json()).runId as string,
    register: () =>
      call('/v1/webhooks', { url: 'https://hooks.example/', events: ['run.completed'], tenantId: 'acme-prod' }),
    async pass(ms: number) {
      const until = world.now() + ms;
      world.at(until, () => {});
      await world.run(until);
    },
  };
}

/** A receiver that fails until it is told to answer. Counts its attempts. */
function receiver() {
  let status = 500;
  let attempts = 0;
  const transport: Transport = async () => {
    attempts += 1;
    return { kind: 'answered', status, retryAfter: undefined, durationMs: 1 };
  };
  return {
    transport,
    attempts: () => attempts,
    recover() {
      status = 204;
    },
  };
}

function worldWithHost() {
  const world = virtualClock(START);
  return { world, clock: world.forHost() };
}

describe.each(STEPS)('a clock that is set %s', (_name, step) => {
  test('delays no retry', async () => {
    const { world, clock } = worldWithHost();
    const { transport, attempts } = receiver();
    const { register, run, pass } = await started(world, clock, { ports: { transport } });
    await register();
    await run();
    await pass(2600);
    expect(attempts()).toBe(1);
    clock.set(step);
    await pass(1000);
    expect(attempts()).toBeGreaterThanOrEqual(3);
    expect(attempts()).toBeLessThanOrEqual(5);
  });

  test('does not fail a subscription whose receiver has been away for a second', async () => {
    const { world, clock } = worldWithHost();
    const { transport } = receiver();
    const webhooks = { durable: true, retryPolicy: POLICY, failAfterHours: 1 / 60 };
    const { register, run, pass, call } = await started(world, clock, { ports: { transport }, webhooks });
    const { webhookId } = await (await register()).json();
    const state = async () => (await (await call(`/host/example/webhooks/${webhookId}`)).json()).state;
    await run();
    await pass(2600);
    clock.set(step);
    await pass(1000);
    expect(await state()).toBe('active');
    await pass(60_000);
    expect(await state()).toBe('dead-lettered');
  });

  test('a repeated request gets its stored reply', async () => {
    const { world, clock } = worldWithHost();
    const { host, soon } = await started(world, clock);
    const create = () => {
      const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'idempotency-key': 'k-1' };
      const body = JSON.stringify({ workflowId: 'any' });
      return soon(host.fetch(new Request('http://host.test/v1/runs', { method: 'POST', headers, body })));
    };
    const { runId } = await (await create()).json();
    clock.set(step);
    expect(await (await create()).json()).toMatchObject({ runId });
  });
});

describe.each(BACK)('a clock that is set %s', (_name, step) => {
  test('delays no run that waits for a time', async () => {
    const { world, clock } = worldWithHost();
    const { run, call, pass } = await started(world, clock);
    const runId = await run();
    await pass(500);
    clock.set(step);
    await pass(1999);
    expect(await (await call(`/v1/runs/${runId}`)).json()).toMatchObject({ status: 'running' });
    await pass(1);
    expect(await (await call(`/v1/runs/${runId}`)).json()).toMatchObject({ status: 'completed' });
  });

  test('does not silence the keep-alives of a stream', async () => {
    const { world, clock } = worldWithHost();
    const { run, call, pass, soon } = await started(world, clock, { http: { streams: { keepAliveMs: 1000 } } });
    const runId = await run();
    const { body } = await call(`/v1/runs/${runId}/events`);
    if (body === null) throw new Error('The stream has no body.');
    const reader = body.getReader();
    // The greeting, then the start of the run.
    await soon(reader.read());
    await soon(reader.read());
    clock.set(step);
    const next = reader.read();
    await pass(1000);
    expect(new TextDecoder().decode((await next).value)).toMatch(/^:/);
    await reader.cancel();
  });

  test('does not hide a store that fails', async () => {
    const { world, clock } = worldWithHost();
    const store = memoryStore();
    let isAway = false;
    const failing: Store = {
      ...store,
      probe: () => (isAway ? Promise.reject(new Error('away')) : store.probe()),
    };
    const { host, pass, soon } = await started(world, clock, { store: failing });
    expect((await soon(host.health())).ready).toBe(true);
    clock.set(step);
    isAway = true;
    await pass(1000);
    expect((await soon(host.health())).checks).toContainEqual({ name: 'store', ok: false, reason: 'failed' });
    isAway = false;
  });

  test('and a restart delay a waiting delivery by no more than the longest delay of a retry', async () => {
    const { world, clock } = worldWithHost();
    const { transport, attempts, recover } = receiver();
    const store = memoryStore();
    const first = await started(world, clock, { store: { ...store, close: async () => {} }, ports: { transport } });
    await first.register();
    await first.run();
    await first.pass(2600);
    await first.stop();
    const before = attempts();
    recover();
    const second = await started(world, world.forHost(step), { store, ports: { transport } });
    await second.pass(POLICY.maxDelayMs);
    expect(attempts()).toBe(before + 1);
  });
});

test('a clock without monotonic time is rejected', () => {
  const clock = { now: Date.now, at: () => () => {} } as never;
  expect(() =>
    createHost({
      store: memoryStore(),
      authenticate: [],
      engine: async () => ({}),
      secretKey: new Uint8Array(32),
      authorization: { hasWorkspace: () => true },
      ports: { clock },
    }),
  ).toThrow('ports.clock.monotonic: must be a function.');
});
