import { randomUUID } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import { freePort } from '@svc/tools/free-port';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BootedHost, bootHost, eventually, scratch } from './booted-host.ts';

const KEY = 'operator_brought_key_of_enough_characters';
/** In each of them one of the hosts is killed, in turn. */
const ROUNDS = 8;
const RUNS_PER_ROUND = 4;

const folder = scratch();
const configs = new Map<Side, object>();
const hosts = new Map<Side, BootedHost>();
type Side = 'source' | 'target';

beforeAll(async () => {
  const [source, target] = [await freePort(), await freePort()];
  configs.set('source', {
    ...configOf('source', source),
    egress: { allowLoopback: [target] },
    webhooks: {
      durable: true,
      retryPolicy: { maxAttempts: 100, backoff: 'fixed', delayMs: 500, maxDelayMs: 3000 },
      // A target that is down for minutes is tried as often as one that is down for a second.
      circuit: { failureThreshold: 1000, cooldownMs: 100, failureLimit: 10_000 },
    },
  });
  configs.set('target', {
    ...configOf('target', target),
    baseUrl: `http://127.0.0.1:${target}`,
    triggers: { perClient: { limit: 100_000 }, perTrigger: { limit: 100_000 } },
  });
  await boot('source');
  await boot('target');
});
afterAll(async () => {
  for (const side of hosts.keys()) await kill(side);
  folder.remove();
});

function configOf(name: string, port: number): object {
  return {
    listen: { port },
    store: `sqlite:${folder.path(`${name}.db`)}`,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [
      {
        ...{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_1' },
        scopes: ['runs:create', 'runs:read', 'webhooks:manage'],
      },
    ],
  };
}

async function boot(side: Side): Promise<void> {
  hosts.set(side, await bootHost(folder.path(`${side}.json`), configs.get(side)));
}

/** Ends a host as a machine that loses its power does. */
async function kill(side: Side): Promise<void> {
  const host = hosts.get(side);
  host?.process.kill('SIGKILL');
  await host?.ended;
}

async function call(side: Side, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${hosts.get(side)?.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...{ authorization: `Bearer ${KEY}`, 'svc-version': '2', 'content-type': 'application/json' },
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** The ids of the runs of a host, newest first. */
async function runIds(side: Side): Promise<string[]> {
  const { body } = await call(side, '/runs?limit=100');
  return body.runs.map(({ runId }: { runId: string }) => runId);
}

/** Creates one run, also when the host is killed meanwhile: the idempotency key makes it one. */
async function createRun(n: number): Promise<string> {
  const key = { 'idempotency-key': randomUUID() };
  let runId: string | undefined;
  await eventually(async () => {
    const request = { workflowId: 'echo', inputs: { n } };
    const answer = await call('source', '/runs', request, key).catch(() => undefined);
    // Nothing else is refused: the host is down, or still works on the request that it had before it was killed.
    if (answer !== undefined && answer.status !== 503) expect([201, 409]).toContain(answer.status);
    if (answer?.status === 201) runId = answer.body.runId;
    return runId !== undefined;
  });
  return runId ?? '';
}

describe(covers('triggers.message.durable', 'triggers.message.dedup', 'webhooks.durable.retries'), () => {
  test('each run that ends on one host starts exactly one run on the next, through kills of both', async () => {
    const trigger = await call('target', '/trigger-subscriptions', {
      ...{ source: 'webhook', webhook: { preset: 'svc', types: ['run.completed'] } },
      mapping: { workflowId: 'echo', inputs: { source: { pointer: '/body/runId' } } },
    });
    const { binding, secret } = trigger.body;
    const events = ['run.completed'];
    const subscribed = await call('source', '/webhooks', { url: binding.ingestUrl, events, secret });
    expect([trigger.status, subscribed.status]).toEqual([201, 201]);

    const sources: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const side = round % 2 === 0 ? 'target' : 'source';
      // The kill meets requests, deliveries and messages of the round before.
      const created = Array.from({ length: RUNS_PER_ROUND }, (_, n) => createRun(round * RUNS_PER_ROUND + n));
      await kill(side);
      await boot(side);
      sources.push(...(await Promise.all(created)));
    }

    await eventually(async () => (await runIds('target')).length >= ROUNDS * RUNS_PER_ROUND);
    const started = await runIds('target');
    const startedBy = await Promise.all(started.map(sourceOf));
    expect(startedBy.sort()).toEqual(sources.sort());
    const { body } = await call(
      'target',
      `/host/example/triggers/${binding.ingestUrl.split('/').at(-1)}/messages?limit=200`,
    );
    expect(body.messages.map(({ outcome }: { outcome: string }) => outcome)).toEqual(started.map(() => 'delivered'));
    expect(new Set(body.messages.map(({ runId }: { runId: string }) => runId))).toEqual(new Set(started));
  });
});

/** The run of the source that started a run of the target, as its event tells. */
async function sourceOf(runId: string): Promise<string> {
  const path = `/runs/${encodeURIComponent(runId)}/events/poll`;
  let found: string | undefined;
  await eventually(async () => {
    const { body } = await call('target', path);
    found = /"source":"([^"]+)"/.exec(JSON.stringify(body.events))?.[1];
    return found !== undefined;
  });
  return found ?? '';
}
