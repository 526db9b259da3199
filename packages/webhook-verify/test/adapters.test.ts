import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { covers } from '@svc/tools/covers';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import type { BodyLimits } from '../src/adapters/body-limits.ts';
import { receiver as expressReceiver } from '../src/adapters/express.ts';
import { receiver as fastifyReceiver } from '../src/adapters/fastify.ts';
import { receiver as fetchReceiver } from '../src/adapters/fetch.ts';
import { receiver as honoReceiver } from '../src/adapters/hono.ts';
import { type LambdaEvent, receiver as lambdaReceiver } from '../src/adapters/lambda.ts';
import { receiver as nodeReceiver } from '../src/adapters/node.ts';
import { memoryDedupStore } from '../src/dedup/memory.ts';
import { type ReceiveOptions, receive } from '../src/receive.ts';
import { invalidDeliveries, testDelivery } from '../src/testing/index.ts';

const secret = 'a secret of the tests';

type Options = Partial<ReceiveOptions & BodyLimits>;

/** Sends a request, and returns the answer as the sender sees it. */
type Send = (
  init: RequestInit,
) => Promise<{ readonly status: number; readonly text: string; readonly headers: Headers }>;

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listening(server: Server): Promise<string> {
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
}

async function seen(response: Response): ReturnType<Send> {
  return { status: response.status, text: await response.text(), headers: response.headers };
}

function complete(options: Options): ReceiveOptions & BodyLimits {
  return { secret, onDelivery: () => {}, ...options };
}

async function overSocket(listener: RequestListener): Promise<Send> {
  const url = await listening(createServer(listener));
  return async (init) => seen(await fetch(url, init));
}

/** Every adapter as a sender sees it; those with a server of their own are called over a socket. */
const ADAPTERS: { name: string; open: (options: Options) => Promise<Send> }[] = [
  { name: 'node:http', open: (options) => overSocket(nodeReceiver(complete(options))) },
  {
    name: 'Express',
    open: (options) => overSocket(express().use('/webhooks', expressReceiver(complete(options)))),
  },
  {
    name: 'Express behind express.raw()',
    open: (options) => {
      const app = express().use(express.raw({ type: () => true, limit: '50mb' }));
      return overSocket(app.use('/webhooks', expressReceiver(complete(options))));
    },
  },
  {
    name: 'Fastify',
    open: async (options) => {
      const app = Fastify();
      app.post('/other', async ({ body }) => body);
      await app.register(fastifyReceiver({ ...complete(options), path: '/webhooks' }));
      await app.listen({ port: 0, host: '127.0.0.1' });
      closing.push(() => app.close());
      const { port } = app.server.address() as AddressInfo;
      return async (init) => seen(await fetch(`http://127.0.0.1:${port}/webhooks`, init));
    },
  },
  {
    name: 'fetch',
    open: async (options) => {
      const handle = fetchReceiver(complete(options));
      return async (init) => seen(await handle(new Request('http://x/webhooks', init)));
    },
  },
  {
    name: 'Hono',
    open: async (options) => {
      const app = new Hono().post('/webhooks', honoReceiver(complete(options)));
      return async (init) => seen(await app.request('/webhooks', init));
    },
  },
  { name: 'Lambda, HTTP API', open: async (options) => lambda(options, eventV2) },
  { name: 'Lambda, HTTP API with base64', open: async (options) => lambda(options, eventV2Base64) },
  { name: 'Lambda, REST API', open: async (options) => lambda(options, eventV1) },
];

describe.each(ADAPTERS)('$name', ({ name, open }) => {
  let onDelivery: () => Promise<void>;

  test('answers 200 after the handler has resolved', async () => {
    const seenTypes: string[] = [];
    const send = await open({
      onDelivery: async ({ eventType }) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        seenTypes.push(eventType);
      },
    });
    expect(await send(testDelivery({ secret, type: 'run.failed' }))).toMatchObject({ status: 200, text: '' });
    expect(seenTypes).toEqual(['run.failed']);
  });

  test('answers 200 to a repeat without calling the handler again', async () => {
    let handled = 0;
    const send = await open({ dedup: memoryDedupStore(), onDelivery: () => void handled++ });
    const delivery = testDelivery({ secret });
    expect([(await send(delivery)).status, (await send(delivery)).status, handled]).toEqual([200, 200, 1]);
  });

  test('answers 409 with Retry-After while the handler of the same event runs', async () => {
    let end = () => {};
    const began = new Promise<void>((began) => {
      onDelivery = () =>
        new Promise<void>((resolve) => {
          end = resolve;
          began();
        });
    });
    const send = await open({ dedup: memoryDedupStore({ now: () => 0 }), onDelivery: () => onDelivery() });
    const delivery = testDelivery({ secret });
    const first = send(delivery);
    await began;
    const second = await send(delivery);
    expect([second.status, second.headers.get('retry-after'), second.text]).toEqual([409, '60', '']);
    end();
    const { status, headers } = await first;
    expect([status, headers.get('retry-after')]).toEqual([200, null]);
  });

  test('answers 500 with an empty body when the handler fails', async () => {
    const send = await open({ onDelivery: () => Promise.reject(new Error('a secret of ours')) });
    expect(await send(testDelivery({ secret }))).toMatchObject({ status: 500, text: '' });
  });

  test.each(invalidDeliveries({ secret }))(
    'answers 400 or 401 with an empty body to a delivery $why',
    async ({ code, ...delivery }) => {
      const codes: string[] = [];
      const send = await open({
        onDelivery: () => expect.unreachable(),
        onRejected: (error) => codes.push(error.code),
      });
      const answer = await send(delivery);
      expect([400, 401]).toContain(answer.status);
      expect(answer.text).toBe('');
      expect(codes).toEqual([code]);
    },
  );

  test('answers 413 to a body over the limit', async () => {
    const send = await open({ maxBodyBytes: 10 });
    const { body, headers } = testDelivery({ secret });
    expect((await send({ method: 'POST', body, headers })).status).toBe(413);
  });

  test('passes a body outside ASCII to the handler unchanged', async () => {
    const payloads: unknown[] = [];
    const send = await open({ onDelivery: ({ event }) => void payloads.push(event.payload) });
    const payload = { text: 'ünïcödé ☃ 𝒳 \u2028' };
    expect((await send(testDelivery({ secret, payload }))).status).toBe(200);
    expect(payloads).toEqual([payload]);
  });

  test('rejects every method but POST', async () => {
    const send = await open({ onDelivery: () => expect.unreachable() });
    const answer = await send({ method: 'GET' });
    // The routers of Hono and Fastify know no such route.
    expect(answer.status).toBe(['Hono', 'Fastify'].includes(name) ? 404 : 405);
    if (answer.status === 405) expect(answer.headers.get('allow')).toBe('POST');
  });

  test('answers a challenge with JSON', async () => {
    const verifier = { safeVerify: () => ({ ok: true, challenge: 'abc' }) as const };
    const send = await open({ secret: undefined, verifier });
    const answer = await send({ method: 'POST', body: '{}' });
    expect(answer).toMatchObject({ status: 200, text: '{"challenge":"abc"}' });
    expect(answer.headers.get('content-type')).toContain('application/json');
  });

  test.each([{ maxBodyBytes: 0 }, { maxBodyBytes: Number.NaN }, { bodyTimeoutMs: 2 ** 31 }, { secret: ' ' }])(
    'throws for the options %j',
    async (options) => {
      await expect((async () => open(options))()).rejects.toThrow(TypeError);
    },
  );
});

describe('a body in chunks', () => {
  const OVER_SOCKETS = ADAPTERS.filter(({ name }) => ['node:http', 'Express', 'Fastify'].includes(name));
  const STREAMING = ADAPTERS.filter(({ name }) => ['fetch', 'Hono'].includes(name));

  test.each([...OVER_SOCKETS, ...STREAMING])('$name joins the chunks', async ({ open }) => {
    const send = await open({});
    const { body, headers } = testDelivery({ secret });
    const pieces = Buffer.from(body);
    const stream = new ReadableStream({
      async start(controller) {
        for (const byte of pieces) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    const init = { method: 'POST', headers, body: stream, duplex: 'half' };
    expect((await send(init)).status).toBe(200);
  });

  test.each([...OVER_SOCKETS, ...STREAMING])('$name reads no further than its limit', async ({ open }) => {
    let sent = 0;
    const stream = new ReadableStream({
      pull(controller) {
        sent += 1024;
        controller.enqueue(new Uint8Array(1024));
      },
    });
    const init = { method: 'POST', body: stream, duplex: 'half' };
    const send = await open({ maxBodyBytes: 4096 });
    // Over a socket the sender may still be writing when the answer comes.
    const answer = await send(init).catch(() => undefined);
    expect([413, undefined]).toContain(answer?.status);
    expect(sent).toBeLessThan(20_000_000);
  });

  test.each(STREAMING)('$name answers 408 when the body does not arrive in time', async ({ open }) => {
    const stream = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) });
    const send = await open({ bodyTimeoutMs: 30 });
    expect((await send({ method: 'POST', body: stream, duplex: 'half' } as RequestInit)).status).toBe(408);
  });

  test.each(STREAMING)('$name answers 400 when the body breaks off', async ({ open }) => {
    const stream = new ReadableStream({ start: (controller) => controller.error(new Error('gone')) });
    const send = await open({});
    expect((await send({ method: 'POST', body: stream, duplex: 'half' } as RequestInit)).status).toBe(400);
  });
});

describe('on a socket', () => {
  const SERVERS: { name: string; open: (options: Options) => Promise<string> }[] = [
    { name: 'node:http', open: (options) => listening(createServer(nodeReceiver(complete(options)))) },
    {
      name: 'Express',
      open: (options) => listening(createServer(express().use(expressReceiver(complete(options))))),
    },
    {
      name: 'Fastify',
      open: async (options) => {
        const app = Fastify();
        await app.register(fastifyReceiver({ ...complete(options), path: '/webhooks' }));
        closing.push(() => app.close());
        return `${await app.listen({ port: 0, host: '127.0.0.1' })}/webhooks`;
      },
    },
  ];

  /** Writes bytes unchanged, and returns the first bytes of the answer. */
  async function exchange(url: string, ...writes: readonly string[]): Promise<string> {
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    for (const text of writes) socket.write(text);
    const answer = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
    socket.destroy();
    return answer;
  }

  test.each(SERVERS)(
    '$name answers 408 and closes the connection when the body does not arrive in time',
    async ({ open }) => {
      const url = await open({ bodyTimeoutMs: 50 });
      const head =
        'POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{';
      const answer = await exchange(url, head);
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toMatch(/^connection: close\r$/im);
    },
  );

  test.each(SERVERS)(`$name: ${covers('webhooks.verify.repeated-header')}`, async ({ open }) => {
    const { body, headers } = testDelivery({ secret });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${lines.join('')}`;
    const url = await open({});
    expect(await exchange(url, `${head}\r\n${body}`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exchange(url, `${head}SVC-Timestamp: 1\r\n\r\n${body}`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each(SERVERS)('$name ignores a body that is cut off, and serves the next request', async ({ open }) => {
    const url = await open({ onDelivery: () => expect.unreachable() });
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.end('POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{');
    await new Promise((resolve) => socket.on('close', resolve).resume());
    const answer = await fetch(url, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(400);
  });
});

describe('a body that was parsed before is reported as a TypeError', () => {
  test('to the error handler of Express', async () => {
    const problems: unknown[] = [];
    const app = express()
      .use(express.json())
      .use(expressReceiver(complete({})));
    app.use((error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
      problems.push(error);
      response.status(500).end();
    });
    const url = await listening(createServer(app));
    const answer = await fetch(url, testDelivery({ secret }));
    expect(answer.status).toBe(500);
    expect(String(problems[0])).toMatch(/TypeError: .*express\.raw/s);
  });

  test('as a rejection of the fetch handler', async () => {
    const request = new Request('http://x/', testDelivery({ secret }));
    await request.text();
    await expect(fetchReceiver(complete({}))(request)).rejects.toThrow(/already read/);
  });

  test('as a rejection of receive', async () => {
    const { body, headers } = testDelivery({ secret });
    await expect(receive(complete({}))(JSON.parse(body), headers)).rejects.toThrow(/raw bytes/);
  });
});

test('the Fastify plugin leaves the parsers of the rest of the application in place', async () => {
  const app = Fastify();
  await app.register(fastifyReceiver(complete({})), { prefix: '/webhooks' });
  app.post('/other', async ({ body }) => body);
  const [delivered, other] = await Promise.all([
    app.inject({ method: 'POST', url: '/webhooks/', ...payloadOf(testDelivery({ secret })) }),
    app.inject({ method: 'POST', url: '/other', payload: { a: 1 } }),
  ]);
  expect([delivered.statusCode, other.json()]).toEqual([200, { a: 1 }]);
  await app.close();
});

test('the Lambda handler answers 400 to invalid base64', async () => {
  const handle = lambdaReceiver(complete({}));
  const answer = await handle({ ...eventV2({ method: 'POST' }), body: '%%%', isBase64Encoded: true });
  expect(answer.statusCode).toBe(400);
});

function payloadOf({ headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string }) {
  return { headers: { ...headers }, payload: body };
}

function lambda(options: Options, eventOf: (init: RequestInit) => LambdaEvent): Send {
  const handle = lambdaReceiver(complete(options));
  return async (init) => {
    const { statusCode, headers, body } = await handle(eventOf(init));
    return { status: statusCode, text: body, headers: new Headers(headers) };
  };
}

/** Version 2.0 of the payload format: names in lower case, repeats joined by a comma. */
function eventV2({ method = 'GET', headers, body }: RequestInit): LambdaEvent {
  return {
    headers: Object.fromEntries(new Headers(headers)),
    ...(body === undefined ? {} : { body: String(body) }),
    isBase64Encoded: false,
    requestContext: { http: { method } },
  };
}

function eventV2Base64(init: RequestInit): LambdaEvent {
  const event = eventV2(init);
  return { ...event, body: Buffer.from(event.body ?? '').toString('base64'), isBase64Encoded: true };
}

/** Version 1.0: names as sent, repeats as lists. */
function eventV1({ method = 'GET', headers, body }: RequestInit): LambdaEvent {
  const pairs = Object.entries((headers ?? {}) as Record<string, string>);
  return {
    headers: Object.fromEntries(pairs),
    multiValueHeaders: Object.fromEntries(pairs.map(([name, value]) => [name, [value]])),
    body: body === undefined ? null : String(body),
    isBase64Encoded: false,
    httpMethod: method,
  };
}
