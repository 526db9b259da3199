import { randomBytes, randomUUID } from 'node:crypto';
import { asDescribed } from '@svc/tools/as-described';
import { covers } from '@svc/tools/covers';
import { frozenNetwork } from '@svc/tools/frozen-network';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type BootedHost, bootHost, eventually, launch, type Receiver, scratch, startReceiver } from './booted-host.ts';

const send = asDescribed(fetch);

const KEY = 'operator_brought_key_of_enough_characters';
const secretKey = randomBytes(32).toString('base64');

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

let folder: ReturnType<typeof scratch>;
let hosts: BootedHost[];
let receiver: Receiver;
let webhookId: string;

beforeEach(async () => {
  folder = scratch();
  receiver = await startReceiver();
  const [first, second] = await Promise.all([boot('a'), boot('b')]);
  hosts = [first, second];
  const body = { url: receiver.url, events: ['run.started', 'run.completed'], tenantId: 'acme-prod' };
  const registered = await call(first, '/v1/webhooks', body);
  receiver.trust(registered.secret);
  webhookId = registered.webhookId;
});
afterEach(async () => {
  if (hosts[1]?.process.exitCode === null) {
    await send(`${hosts[1].url}/v1/webhooks/${webhookId}?tenantId=acme-prod`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${KEY}` },
    });
  }
  for (const host of hosts) host.process.kill('SIGKILL');
  await Promise.all(hosts.map(({ ended }) => ended));
  await receiver.close();
  folder.remove();
});

function boot(name: string, store = postgres.url, config: object = {}): Promise<BootedHost> {
  return bootHost(folder.path(`${name}.json`), {
    listen: { port: 0 },
    store,
    secretKey,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [
      {
        id: 'key_1',
        key: KEY,
        tenant: 'acme',
        workspaces: ['acme-prod'],
        principal: 'p_1',
        scopes: ['runs:create', 'runs:read', 'runs:cancel', 'approvals:respond', 'webhooks:manage', 'audit:read'],
      },
    ],
    webhooks: {
      durable: true,
      // A receiver on a busy machine still answers in this time, so no attempt is repeated.
      attemptTimeoutMs: 10_000,
      retryPolicy: { maxAttempts: 100, backoff: 'fixed', delayMs: 500 },
    },
    egress: { allowLoopback: [receiver.port] },
    audit: { checkpointIntervalEntries: 10 },
    ...config,
  });
}

async function call(host: BootedHost | undefined, path: string, body?: unknown) {
  const request = {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      ...(body !== undefined && { 'idempotency-key': randomUUID() }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  let response = await send(`${host?.url}${path}`, request);
  // While the disk stalls, the database answers later than the host waits. A client tries again, as it is told to.
  while (response.status === 503) {
    await response.arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 200));
    response = await send(`${host?.url}${path}`, request);
  }
  const answer = await response.json();
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer;
}

const newRun = (inputs: object = {}, workflowId = 'echo') => ({ workflowId, inputs });
const heard = (type: string) =>
  receiver.deliveries.filter(({ eventType }) => eventType === type).map(({ runId }) => runId);

test('two hosts on one database deliver each event once', async () => {
  const runs = await Promise.all(
    Array.from({ length: 40 }, (_, turn) => call(hosts[turn % 2], '/v1/runs', newRun({ turn }))),
  );
  const ids = runs.map(({ runId }) => runId).sort();
  await eventually(() => heard('run.completed').length >= ids.length && heard('run.started').length >= ids.length);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(heard('run.completed').sort()).toEqual(ids);
  expect(heard('run.started').sort()).toEqual(ids);
  // Each host reads the runs that the other one created.
  for (const host of hosts) expect((await call(host, `/v1/runs/${ids[0]}`)).status).toBe('completed');
  const verified = await call(hosts[1], '/v1/audit/verify?fromSeq=1&toSeq=100000');
  expect(verified).toMatchObject({ chainValid: true, checkpointsValid: true });
  expect(verified.checkpoints.length).toBeGreaterThan(2);
});

test(`${covers('webhooks.durable.at-least-once')} when one of two hosts is killed, the other one takes over its runs and deliveries`, async () => {
  const [doomed, other] = hosts;
  receiver.answer = 503;
  const created = [];
  for (let turn = 0; turn < 10; turn++) created.push(await call(doomed, '/v1/runs', newRun({ turn })));
  const long = await call(doomed, '/v1/runs', newRun({ ms: 1500 }, 'delay'));
  doomed?.process.kill('SIGKILL');
  await doomed?.ended;
  receiver.answer = undefined;
  const ids = new Set([...created, long].map(({ runId }) => runId));
  await eventually(() => new Set(heard('run.completed')).size >= ids.size);
  expect(new Set(heard('run.completed'))).toEqual(ids);
  expect((await call(other, `/v1/runs/${long.runId}`)).status).toBe('completed');
});

test(`${covers('operations.runs.cancel-in-time', 'runs.life.one-end')} an operation at one host takes effect on a run that the other one drives`, async () => {
  const [driving, asked] = hosts;
  const at = (runId: string, what = '') => `/v1/runs/${runId}${what}`;
  const until = (runId: string, status: string) =>
    eventually(async () => (await call(asked, at(runId))).status === status);
  const start = async (inputs: object, workflowId: string) => {
    const { runId } = await call(driving, '/v1/runs', newRun(inputs, workflowId));
    return runId as string;
  };
  const types = async (runId: string) => {
    const { events } = await call(asked, at(runId, '/events/poll?timeout=1'));
    return (events as { type: string }[]).map(({ type }) => type);
  };

  const cancelled = await start({ ms: 60_000 }, 'delay');
  await until(cancelled, 'running');
  expect(await call(asked, at(cancelled, '/cancel'), {})).toMatchObject({ status: 'cancelling' });
  await until(cancelled, 'cancelled');

  const paused = await start({ ms: 5000 }, 'delay');
  await eventually(async () => (await types(paused)).includes('node.started'));
  await call(asked, at(paused, ':pause'), {});
  await until(paused, 'paused');
  await call(asked, at(paused, ':resume'), {});
  await until(paused, 'completed');
  expect(await types(paused)).toEqual([
    ...['run.started', 'node.started', 'run.paused', 'run.resumed', 'node.completed', 'run.completed'],
  ]);

  const waiting = await start({}, 'approval');
  await until(waiting, 'waiting-approval');
  const answers = await Promise.all(
    hosts.map(async (host) => {
      const response = await fetch(`${host.url}${at(waiting, '/interrupts/approval')}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ resumeValue: { action: 'accept' } }),
      });
      return response.status;
    }),
  );
  expect(answers.sort()).toEqual([200, 409]);
  await until(waiting, 'completed');
  for (const runId of [cancelled, paused, waiting]) {
    const ends = (await types(runId)).filter((type) => /^run\.(completed|failed|cancelled)$/.test(type));
    expect(ends.length).toBe(1);
  }
});

test('a host on PostgreSQL without secretKey ends with exit code 2', async () => {
  const started = launch(folder.path('c.json'), { listen: { port: 0 }, store: postgres.url });
  expect(await started.ended).toBe(2);
  expect(started.stderr.join('\n')).toContain('secretKey: is required with PostgreSQL');
});

test('a host whose database does not answer stops within twice shutdown.graceMs and a second, with exit code 1', async () => {
  const network = await frozenNetwork(Number(new URL(postgres.url).port));
  const url = postgres.url.replace(/:[0-9]+\//, `:${network.port}/`);
  const cut = await boot('cut', url, { shutdown: { graceMs: 500 } });
  hosts.push(cut);
  try {
    await call(cut, '/v1/runs', newRun({ ms: 60_000 }, 'delay'));
    network.freeze();
    // The request waits for the database, which does not answer.
    const waiting = call(cut, '/v1/runs', newRun()).catch(() => undefined);
    cut.process.kill('SIGTERM');
    expect(await cut.ended).toBe(1);
    expect(cut.stderr.join('\n')).toContain('"event":"host.stop-late","afterMs":2000');
    await waiting;
  } finally {
    await network.close();
  }
});
