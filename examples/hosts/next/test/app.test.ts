import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { mintApiKey } from '@svc/auth/api-key';
import type { Delivery } from '@svc/webhook-verify';
import { receiver as nodeReceiver } from '@svc/webhook-verify/node';
import { POST } from '../app/[...path]/route.ts';
import { GET } from '../app/v1/workflows/[workflowId]/route.ts';
import { running } from '../src/host.ts';

let secret: string | undefined;
const received: Delivery[] = [];
const onDelivery = (delivery: Delivery) => void received.push(delivery);
const receiver = createServer(nodeReceiver({ secret: () => secret, onDelivery })).listen(0, '127.0.0.1');
after(() => receiver.close());
await once(receiver, 'listening');
const { port } = receiver.address() as AddressInfo;

const randomBytes = (size: number) => crypto.getRandomValues(new Uint8Array(size));
const { key, hash } = mintApiKey({ mode: 'live', randomBytes });
process.env.API_KEY_HASH = hash;
process.env.RECEIVER_PORT = String(port);
process.env.DATABASE = join(mkdtempSync(join(tmpdir(), 'host-')), 'test.db');
await running().host.start();
after(() => running().host.stop());

function request(path: string, body?: object, authorization = `Bearer ${key}`): Request {
  const headers = { authorization, 'content-type': 'application/json' };
  const post = body && { method: 'POST', body: JSON.stringify(body) };
  return new Request(`http://host.test${path}`, { headers, ...post });
}

test('tells its workflows to a caller with a key', async () => {
  const params = Promise.resolve({ workflowId: 'greet' });
  assert.equal((await GET(request('/v1/workflows/greet', undefined, ''), { params })).status, 401);
  const { name } = await (await GET(request('/v1/workflows/greet'), { params })).json();
  assert.equal(name, 'Greets by name');
});

test('reports the end of a run with a webhook that its receiver verifies', { timeout: 30_000 }, async () => {
  const webhook = { url: `http://127.0.0.1:${port}/`, events: ['run.completed'], tenantId: 'main' };
  ({ secret } = await (await POST(request('/v1/webhooks', webhook))).json());
  await POST(request('/v1/runs', { workflowId: 'greet', inputs: { name: 'Ada' } }));
  while (received.length === 0) await setTimeout(10);
  const [{ event }] = received as [Delivery];
  console.log(`verified ${event.type} of ${event.runId}: ${JSON.stringify(event.payload)}`);
  assert.deepEqual(event.type === 'run.completed' && event.payload.outputs, { greeting: 'Hello, Ada' });
});
