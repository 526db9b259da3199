import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type TransportRequest, type TransportVerdict, type WebhookOptions } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WEBHOOK_DEFAULTS, webhookOptions } from '../../src/options/webhook-options.ts';
import { retryDelay } from '../../src/webhooks/retry.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';

const KEY = 'operator-key-of-the-defaults-0123456789';
const START = 1_780_000_000_000;

interface Attempt {
  readonly dedupKey: string;
  readonly attempt: number;
  readonly outcome: string;
  readonly status?: number;
  readonly reason?: string;
  readonly durationMs: number;
}

/** Makes a host on a virtual clock, with a subscription to the start and the end of runs, and a receiver that the test answers for. */
async function subscribed(webhooks?: Partial<WebhookOptions>) {
  const world = virtualClock(START);
  let answer: number | 'never' = 'never';
  const transport = async ({ timeoutMs }: TransportRequest): Promise<TransportVerdict> => {
    if (answer !== 'never') return { kind: 'answered', status: answer, retryAfter: undefined, durationMs: 1 };
    await new Promise<void>((resolve) => world.at(world.now() + timeoutMs, resolve));
    return { kind: 'failed', reason: 'timeout', durationMs: timeoutMs };
  };
  const scopes = ['runs:create', 'webhooks:manage'];
  const key = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' };
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...key, scopes, mode: 'live' }]), now: world.now })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    ports: { clock: world, transport },
    ...(webhooks && { webhooks }),
  });
  await host.start();
  onTestFinished(() => soon(host.stop(0)));

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
    const response = await soon(host.fetch(request));
    expect(response.status).toBeLessThan(300);
    return response.json();
  }

  const { webhookId } = await call('/v1/webhooks', {
    url: 'https://hooks.example/hook',
    events: ['run.started', 'run.completed'],
    tenantId: 'acme-prod',
  });
  const view = `/host/example/webhooks/${webhookId}`;

  return {
    answers(status: number | 'never') {
      answer = status;
    },
    call,
    view,
    /** Lets so much time pass, in ms, with everything that is due in it. */
    pass: (ms: number) => world.run(world.now() + ms),
    run: () => call('/v1/runs', { workflowId: 'any' }),
    deadLetters: async () => (await call(`/v1/webhooks/${webhookId}/dead-letters?tenantId=acme-prod`)).deliveries,
    attempts: async (): Promise<Attempt[]> => (await call(view)).lastAttempts.reverse(),
  };
}

const THREE = { maxAttempts: 3, backoff: 'fixed', delayMs: 250, maxDelayMs: 30_000 } as const;

describe(covers('webhooks.durable.dedup-key'), () => {
  test('tries a delivery three times, and again after a redrive, with one deduplication key', async () => {
    const { answers, run, call, view, pass, deadLetters, attempts } = await subscribed({ retryPolicy: THREE });
    answers(500);
    await run();
    await pass(1000);
    const letters = await deadLetters();
    expect(letters.length).toBe(2);
    const failed = await attempts();
    const keys = [...new Set(failed.map(({ dedupKey }) => dedupKey))];
    expect(keys.toSorted()).toEqual(letters.map(({ deliveryId }: { deliveryId: string }) => deliveryId).toSorted());
    for (const key of keys) {
      const own = failed.filter(({ dedupKey }) => dedupKey === key);
      expect(own).toMatchObject([1, 2, 3].map((attempt) => ({ attempt, outcome: 'failed', status: 500 })));
    }

    answers(204);
    expect(await call(`${view}/dead-letters/redrive`, {})).toEqual({ redriven: 2 });
    await pass(1000);
    const redriven = (await attempts()).slice(6).map(({ dedupKey, outcome }) => ({ dedupKey, outcome }));
    expect(redriven.length).toBe(2);
    expect(redriven).toEqual(expect.arrayContaining(keys.map((dedupKey) => ({ dedupKey, outcome: 'delivered' }))));
  });
});

describe('a host that names no delivery options', () => {
  test('doubles the delay from one second up to six hours, over about 21 hours', () => {
    const { retryPolicy } = WEBHOOK_DEFAULTS;
    const middle = () => Uint8Array.of(128, 0, 0, 0);
    const delays = Array.from({ length: retryPolicy.maxAttempts - 1 }, (_, index) =>
      Math.round(retryDelay(retryPolicy, index + 1, undefined, middle) / 1000),
    );
    expect(delays).toEqual([...Array.from({ length: 15 }, (_, index) => 2 ** index), 21_600, 21_600]);
    expect(delays.reduce((sum, delay) => sum + delay, 0) / 3600).toBeCloseTo(21.1, 1);
  });

  test.each([undefined, {}, { durable: undefined } as unknown as Partial<WebhookOptions>])(
    'is durable in major 1, with %j',
    async (webhooks) => {
      const { call } = await subscribed(webhooks);
      const retryPolicy = { maxAttempts: 18, backoff: 'exponential' };
      expect((await call('/.well-known/svc')).webhooks).toMatchObject({ durable: true, retryPolicy });
    },
  );

  test('loses nothing when a receiver is away for some seconds', async () => {
    const { answers, run, pass, deadLetters, attempts } = await subscribed();
    answers(503);
    await run();
    await pass(20_000);
    answers(204);
    await pass(20_000);
    expect((await attempts()).filter(({ outcome }) => outcome === 'delivered')).toHaveLength(2);
    expect(await deadLetters()).toEqual([]);
  });
});

describe(covers('webhooks.best-effort.timeout'), () => {
  test('an attempt without an answer fails after five seconds, and is the only one', async () => {
    const { run, call, view, pass, attempts } = await subscribed({ durable: false });
    await run();
    await pass(4999);
    expect(await attempts()).toEqual([]);
    await pass(60_000);
    const ended = await attempts();
    expect(ended.length).toBe(2);
    for (const attempt of ended) {
      expect(attempt).toMatchObject({ attempt: 1, outcome: 'failed', reason: 'timeout', durationMs: 5000 });
    }
    expect(new Set(ended.map(({ dedupKey }) => dedupKey)).size).toBe(2);
    expect(await call(view)).toMatchObject({ circuit: { state: 'closed', consecutiveFailures: 2 }, recentFailures: 2 });
  });
});

test('an option that is left out has its default, also within a group and as undefined', () => {
  const { retryPolicy, concurrency } = WEBHOOK_DEFAULTS;
  const given = { retryPolicy: { maxAttempts: 3, delayMs: undefined }, concurrency: { total: 8 }, durable: undefined };
  // As a program in JavaScript may: the types allow no undefined within a group.
  expect(Reflect.apply(webhookOptions, undefined, [given])).toEqual({
    ...WEBHOOK_DEFAULTS,
    retryPolicy: { ...retryPolicy, maxAttempts: 3 },
    concurrency: { ...concurrency, total: 8 },
  });
});
