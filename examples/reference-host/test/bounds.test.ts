import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BootedHost, bootHost, eventually, type Receiver, scratch, startReceiver } from './booted-host.ts';

const KEY = 'operator_key_of_the_test_of_the_bounds_xxxx';
const MAX_CONNECTIONS = 50;
const READERS = 10;
const PLACES = 8;
const SUBSCRIPTIONS = 30;
const RUNS = 200;
const MIB = 1024 * 1024;
/** The bounds that docs/operations.md states for this configuration. Receivers of one address keep one connection a place. */
const MOST_DESCRIPTORS = 64 + MAX_CONNECTIONS + 2 * PLACES;
const MOST_LOG_BYTES = 96 * MIB;

const folder = scratch();
const path = folder.path('svc.db');
let receiver: Receiver;
let host: BootedHost;
const most = { descriptors: 0, logBytes: 0 };
let sampling: NodeJS.Timeout;

beforeAll(async () => {
  receiver = await startReceiver();
  receiver.answer = 'never';
  const key = { id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' };
  const config = {
    listen: { port: 0, maxConnections: MAX_CONNECTIONS },
    store: `sqlite:${path}`,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [{ ...key, scopes: ['runs:create', 'runs:read', 'webhooks:manage'] }],
    streams: { places: { perRun: READERS, perCredential: READERS, total: READERS } },
    // The attempts outlast the test: no place is given back while it samples.
    webhooks: { durable: true, attemptTimeoutMs: 300_000, concurrency: { total: PLACES, perSubscription: 2 } },
    egress: { allowLoopback: [receiver.port] },
    retention: { runDays: 30 },
  };
  host = await bootHost(folder.path('config.json'), config, ['--max-old-space-size=128']);
  sampling = setInterval(sample, 20);
});
afterAll(async () => {
  clearInterval(sampling);
  host.process.kill('SIGKILL');
  await host.ended;
  await receiver.close();
  folder.remove();
});

function sample(): void {
  most.descriptors = Math.max(most.descriptors, readdirSync(`/proc/${host.process.pid}/fd`).length);
  most.logBytes = Math.max(most.logBytes, statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0);
}

async function call(route: string, body?: object, headers: object = {}) {
  const response = await fetch(host.url + route, {
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Opens connections without a request, and returns them with the number of those that the host has closed. */
async function idle(count: number) {
  const { port, hostname } = new URL(host.url);
  let closed = 0;
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened++) {
    const socket = connect(Number(port), hostname)
      .on('error', () => {})
      .on('close', () => {
        closed += 1;
      });
    await once(socket, 'connect');
    sockets.push(socket);
  }
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { closed: () => closed, end };
}

test('under load a host keeps the bounds of its configuration, with a heap of 128 MiB', async () => {
  for (let count = 0; count < SUBSCRIPTIONS; count++) {
    const body = { url: `${receiver.url}?${count}`, events: ['run.completed'], tenantId: 'acme-prod' };
    expect((await call('/v1/webhooks', body)).status).toBe(201);
  }

  // Readers: those beyond the places are refused.
  const waiting = await call('/v1/runs', { workflowId: 'approval', inputs: {} });
  const controller = new AbortController();
  const open = await Promise.all(
    Array.from({ length: 2 * READERS }, async () => {
      const { status, body } = await fetch(`${host.url}/v1/runs/${waiting.body.runId}/events`, {
        headers: { authorization: `Bearer ${KEY}` },
        signal: controller.signal,
      });
      if (status !== 200) await body?.cancel();
      return status;
    }),
  );
  expect(open.filter((status) => status === 200).length).toBe(READERS);
  expect(open.filter((status) => status === 429).length).toBe(READERS);

  // Writes: runs with an idempotency key, of which each makes 30 deliveries that wait, and long logs.
  for (let from = 0; from < RUNS; from += 10) {
    const created = await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        call('/v1/runs', { workflowId: 'echo', inputs: {} }, { 'idempotency-key': `bounds-${from + turn}` }),
      ),
    );
    expect(new Set(created.map(({ status }) => status))).toEqual(new Set([201]));
  }
  for (let turn = 0; turn < 3; turn++) {
    const { body } = await call('/v1/runs', { workflowId: 'burst', inputs: { events: 10_000 } });
    await eventually(async () => (await call(`/v1/runs/${body.runId}`)).body.status === 'completed');
  }

  // Connections: those beyond the limit are closed.
  controller.abort();
  const connections = await idle(3 * MAX_CONNECTIONS);
  await eventually(() => connections.closed() >= 2 * MAX_CONNECTIONS);
  sample();
  connections.end();

  expect(most.descriptors).toBeLessThanOrEqual(MOST_DESCRIPTORS);
  expect(most.descriptors).toBeGreaterThan(MAX_CONNECTIONS / 2);
  expect(most.logBytes).toBeLessThanOrEqual(MOST_LOG_BYTES);
  expect(receiver.bodies.length).toBeLessThanOrEqual(PLACES);
  expect(receiver.bodies.length).toBeGreaterThan(0);
  await eventually(async () => (await fetch(`${host.url}/host/example/readyz`).catch(() => undefined))?.status === 200);
  // The last deliveries are in the journal for some seconds.
  await eventually(() => rows().deliveries >= (RUNS + 3) * SUBSCRIPTIONS);
  expect(rows()).toEqual({ deliveries: (RUNS + 3) * SUBSCRIPTIONS, keys: RUNS, attempts: 0, removed: 0 });
});

/** Counts records by another connection. */
function rows() {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  const count = (table: string) => Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count);
  const counted = {
    deliveries: count('deliveries'),
    keys: count('idempotency_keys'),
    attempts: count('attempts'),
    removed: count('removed_runs'),
  };
  database.close();
  return counted;
}
