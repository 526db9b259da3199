import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { mintApiKey } from '@svc/auth/api-key';
import { memoryStore } from '@svc/host-kit/stores/memory';
import type { Delivery } from '@svc/webhook-verify';
import { receiver as nodeReceiver } from '@svc/webhook-verify/node';
import { makeApp } from '../src/app.ts';
import { makeHost } from '../src/host.ts';

const randomBytes = (size: number) => crypto.getRandomValues(new Uint8Array(size));
const { key, hash } = mintApiKey({ mode: 'live', randomBytes });

let secret: string | undefined;
const received: Delivery[] = [];
const onDelivery = (delivery: Delivery) => void received.push(delivery);
const receiver = await listening(createServer(nodeReceiver({ secret: () => secret, onDelivery })));

const parts = makeHost({
  keyHashes: [hash],
  store: memoryStore(),
  secretKey: randomBytes(32),
  receiverPort: receiver.port,
});
await parts.host.start();
after(() => parts.host.stop());
const app = await listening(createServer(getRequestListener(makeApp(parts).fetch)));

async function call(path: string, body?: object, authorization = `Bearer ${key}`) {
  const headers = { authorization, 'content-type': 'application/json' };
  const post = body && { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${app.port}${path}`, { headers, ...post });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

test('tells its workflows to a caller with a key', async () => {
  assert.equal((await call('/v1/workflows/greet', undefined, '')).status, 401);
  assert.equal((await call('/v1/workflows/greet')).body.name, 'Greets by name');
});

test('reports the end of a run with a webhook that its receiver verifies', { timeout: 30_000 }, async () => {
  const url = `http://127.0.0.1:${receiver.port}/`;
  const registered = await call('/v1/webhooks', { url, events: ['run.completed'], tenantId: 'main' });
  secret = registered.body.secret;
  await call('/v1/runs', { workflowId: 'greet', inputs: { name: 'Ada' } });
  while (received.length === 0) await setTimeout(10);
  const [{ event }] = received as [Delivery];
  console.log(`verified ${event.type} of ${event.runId}: ${JSON.stringify(event.payload)}`);
  assert.deepEqual(event.type === 'run.completed' && event.payload.outputs, { greeting: 'Hello, Ada' });
});

/** Serves on a free port until the tests have ended. */
async function listening(server: Server): Promise<AddressInfo> {
  server.listen(0, '127.0.0.1');
  after(() => server.close());
  await once(server, 'listening');
  return server.address() as AddressInfo;
}
