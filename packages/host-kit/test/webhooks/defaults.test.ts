import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { egressPolicy } from '@svc/egress-guard';
import { createHost, type WebhookOptions } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WEBHOOK_DEFAULTS } from '../../src/options.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { retryDelay } from '../../src/webhooks/retry.ts';

const KEY = 'operator-key-of-the-defaults-0123456789';

interface Attempt {
  readonly dedupKey: string;
  readonly attempt: number;
  readonly outcome: string;
  readonly status?: number;
  readonly reason?: string;
  readonly durationMs: number;
}

/** A host with a subscription to the start and the end of runs, and a receiver over real HTTP. */
async function subscribed(webhooks: Partial<WebhookOptions>) {
  let answer: number | 'never' = 'never';
  const receiver = createServer((_request, response) => {
    if (answer !== 'never') response.writeHead(answer).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const scopes = ['runs:create', 'webhooks:manage'];
  const key = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' };
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...key, scopes, mode: 'live' }]), now: Date.now })],
    engine: { version: 1, refuse: () => undefined, execute: async () => ({ status: 'completed', outputs: {} }) },
    secretKey: new Uint8Array(32),
    hasWorkspace: () => true,
    egress: egressPolicy({ allowLoopback: [port] }),
    webhooks,
  });
  await host.start();
  onTestFinished(async () => {
    await host.stop(0);
    receiver.closeAllConnections();
    receiver.close();
  });

  async function call(path: string, body?: object) {
    const response = await host.fetch(
      new Request(`http://host.test${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    expect(response.status).toBeLessThan(300);
    return response.json();
  }

  const { webhookId } = await call('/v1/webhooks', {
    url: `http://127.0.0.1:${port}/hook`,
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
    run: () => call('/v1/runs', { workflowId: 'any' }),
    deadLetters: async () => (await call(`/v1/webhooks/${webhookId}/dead-letters?tenantId=acme-prod`)).deliveries,
    attempts: async (): Promise<Attempt[]> => (await call(view)).lastAttempts.reverse(),
  };
}

/** Asks until it holds, for fifteen seconds at the most. */
async function eventually<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  for (const end = Date.now() + 15_000; ; ) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (Date.now() > end) throw new Error(`It did not happen within fifteen seconds: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe(covers('webhooks.durable.reference-defaults', 'webhooks.durable.dedup-key'), () => {
  test('a delivery is tried three times and again when it is redriven, all under one key of its own', async () => {
    const { answers, run, call, view, deadLetters, attempts } = await subscribed({ durable: true });
    answers(500);
    await run();
    const letters = await eventually(deadLetters, ({ length }) => length === 2);
    const failed = await attempts();
    const keys = [...new Set(failed.map(({ dedupKey }) => dedupKey))];
    expect(keys.toSorted()).toEqual(letters.map(({ deliveryId }: { deliveryId: string }) => deliveryId).toSorted());
    for (const key of keys) {
      const own = failed.filter(({ dedupKey }) => dedupKey === key);
      expect(own).toMatchObject([1, 2, 3].map((attempt) => ({ attempt, outcome: 'failed', status: 500 })));
    }

    answers(204);
    expect(await call(`${view}/dead-letters/redrive`, {})).toEqual({ redriven: 2 });
    const all = await eventually(attempts, ({ length }) => length === 8);
    const redriven = all.slice(6).map(({ dedupKey, outcome }) => ({ dedupKey, outcome }));
    expect(redriven).toEqual(expect.arrayContaining(keys.map((dedupKey) => ({ dedupKey, outcome: 'delivered' }))));
  }, 40_000);

  test('the wait between attempts is fixed, and discovery tells the policy', async () => {
    for (const attempts of [1, 2]) {
      const delay = retryDelay(WEBHOOK_DEFAULTS.retryPolicy, attempts, undefined, systemRandom);
      expect(delay).toBeGreaterThanOrEqual(225);
      expect(delay).toBeLessThanOrEqual(275);
    }
    const { call } = await subscribed({ durable: true });
    const { webhooks } = await call('/.well-known/svc');
    expect(webhooks).toMatchObject({ durable: true, retryPolicy: { maxAttempts: 3, backoff: 'fixed' } });
  });
});

describe(covers('webhooks.best-effort.timeout'), () => {
  test('an attempt that gets no answer has failed after five seconds, and is the only one', async () => {
    const { run, call, view, attempts } = await subscribed({});
    await run();
    const ended = await eventually(attempts, ({ length }) => length === 2);
    for (const attempt of ended) {
      expect(attempt).toMatchObject({ attempt: 1, outcome: 'failed', reason: 'timeout' });
      expect(attempt.durationMs).toBeGreaterThan(4900);
      expect(attempt.durationMs).toBeLessThan(9000);
    }
    expect(new Set(ended.map(({ dedupKey }) => dedupKey)).size).toBe(2);
    expect(await call(view)).toMatchObject({ circuit: { state: 'closed', consecutiveFailures: 2 }, recentFailures: 2 });
  }, 40_000);
});
