import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { covers } from '@svc/tools/covers';
import { afterEach, describe, expect, test } from 'vitest';
import { toFetchHandler } from '../src/adapters/fetch.ts';
import { type NodeReceiverOptions, toNodeHandler } from '../src/adapters/node.ts';
import { memoryDedupStore, receive, signDelivery } from '../src/index.ts';

const secret = 'a secret of the tests';
const timestamp = () => Math.floor(Date.now() / 1000);

function delivery(sequence = 1) {
  const event = { type: 'run.completed', runId: 'r', sequence, timestamp: '2023-11-14T22:13:20Z', payload: {} };
  const body = JSON.stringify({ runId: 'r', event });
  const sign = { body, secret, webhookId: 'w', eventType: event.type, timestamp: timestamp() };
  return { body, headers: signDelivery({ ...sign, families: ['A', 'B'] }) };
}

describe(covers('webhooks.verify.dedup'), () => {
  test('an event is handled once, and again only after a failure', async () => {
    const handled: number[] = [];
    let failing = true;
    const handle = receive({
      secret,
      dedup: memoryDedupStore(),
      onDelivery: ({ event }) => {
        if (failing) throw new Error('not now');
        handled.push(event.sequence);
      },
    });
    const { body, headers } = delivery();
    expect(await handle(body, headers)).toBe(500);
    failing = false;
    expect(await handle(body, headers)).toBe(200);
    expect(await handle(body, headers)).toBe(200);
    expect(await handle(delivery(2).body, delivery(2).headers)).toBe(200);
    expect(handled).toEqual([1, 2]);
  });

  test('an event that is being handled is not handled beside that', async () => {
    let finish = () => {};
    const handle = receive({
      secret,
      dedup: memoryDedupStore(),
      onDelivery: () => new Promise<void>((resolve) => (finish = resolve)),
    });
    const { body, headers } = delivery();
    const first = handle(body, headers);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await handle(body, headers)).toBe(409);
    finish();
    expect(await first).toBe(200);
  });

  test('what is remembered is bounded in number and time', async () => {
    let now = 0;
    const store = memoryDedupStore({ capacity: 2, ttlSeconds: 10, now: () => now });
    for (const key of ['a', 'b', 'c']) {
      await store.claim(key);
      await store.confirm(key);
    }
    expect([await store.claim('c'), await store.claim('a')]).toEqual(['handled', 'claimed']);
    now = 11_000;
    expect(await store.claim('c')).toBe('claimed');
  });
});

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(options: Partial<NodeReceiverOptions> = {}): Promise<string> {
  const server = createServer(toNodeHandler({ secret, onDelivery: () => {}, ...options }));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Both adapters as one function of a request, so that both are held to the same table. */
const ADAPTERS = [
  {
    name: 'fetch',
    send: (init: RequestInit, options: Partial<NodeReceiverOptions> = {}) =>
      toFetchHandler({ secret, onDelivery: () => {}, ...options })(new Request('http://x/', init)),
  },
  {
    name: 'node',
    send: async (init: RequestInit, options: Partial<NodeReceiverOptions> = {}) =>
      fetch(await listening(options), init),
  },
];

describe.each(ADAPTERS)('the $name adapter', ({ send }) => {
  test('answers by the table', async () => {
    const { body, headers } = delivery();
    const status = async (init: RequestInit, options?: Partial<NodeReceiverOptions>) =>
      (await send(init, options)).status;
    expect(await status({ method: 'POST', body, headers })).toBe(200);
    expect(await status({ method: 'GET' })).toBe(405);
    expect(await status({ method: 'POST', body })).toBe(400);
    expect(await status({ method: 'POST', body: `${body} `, headers })).toBe(401);
    expect(await status({ method: 'POST', body, headers }, { maxBodyBytes: 10 })).toBe(413);
    const failing = { onDelivery: () => Promise.reject(new Error('no')) };
    expect(await status({ method: 'POST', body, headers }, failing)).toBe(500);
  });

  test('tells the sender nothing of why, and the developer everything', async () => {
    const codes: string[] = [];
    const { body, headers } = delivery();
    const answer = await send(
      { method: 'POST', body: `${body} `, headers },
      { onRejected: ({ code }) => codes.push(code) },
    );
    expect(await answer.text()).toBe('');
    expect(codes).toEqual(['signature_mismatch']);
  });

  test('a body without a length is bounded too', async () => {
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1024)),
    });
    const init = { method: 'POST', body: stream, duplex: 'half' } as RequestInit;
    const answer = await send(init, { maxBodyBytes: 4096 }).catch(() => undefined);
    // Over a socket the sender may still be writing when the answer comes.
    expect([413, undefined]).toContain(answer?.status);
  });
});

test('a body that does not come is answered 408', async () => {
  const url = new URL(await listening({ bodyTimeoutMs: 50 }));
  const socket = connect(Number(url.port), url.hostname);
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{');
  const answer = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  socket.destroy();
});

test(covers('webhooks.verify.repeated-header'), async () => {
  const { body, headers } = delivery();
  const url = new URL(await listening());
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(url.port), url.hostname);
  socket.write(
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${lines.join('')}SVC-Timestamp: 1\r\n\r\n${body}`,
  );
  const answer = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  socket.destroy();
});
