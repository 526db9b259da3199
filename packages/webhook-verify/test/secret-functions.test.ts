import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { receiver as expressReceiver } from '../src/adapters/express.ts';
import { receiver as fastifyReceiver } from '../src/adapters/fastify.ts';
import { receiver as fetchReceiver } from '../src/adapters/fetch.ts';
import { receiver as honoReceiver } from '../src/adapters/hono.ts';
import { type LambdaEvent, receiver as lambdaReceiver } from '../src/adapters/lambda.ts';
import { receiver as nodeReceiver } from '../src/adapters/node.ts';
import { type ReceiveOptions, receive, type Verifier } from '../src/receive.ts';
import { standardVerifier } from '../src/standard-webhooks/index.ts';
import { testDelivery } from '../src/testing/index.ts';

const secret = 'a secret of the tests';
const onDelivery = () => {};

afterEach(() => {
  vi.restoreAllMocks();
});

/** Sends one delivery that is signed with a secret, and returns the status. */
async function statusOf(options: Partial<ReceiveOptions>, signedWith: string = secret): Promise<number> {
  const { body, headers } = testDelivery({ secret: signedWith });
  return (await receive({ secret: undefined, onDelivery, ...options })(body, headers)).status;
}

describe('a secret that is a function', () => {
  test.each<[string, ReceiveOptions['secret']]>([
    ['returns the secret', () => secret],
    ['resolves to the secret', async () => secret],
    ['returns several while a rotation overlaps', () => ['another secret', secret]],
  ])('%s', async (_title, secret) => {
    expect(await statusOf({ secret })).toBe(200);
  });

  test('is called for each request, so that a rotated secret needs no restart', async () => {
    let current = 'the older secret';
    const handle = receive({ secret: () => current, onDelivery });
    const send = async (signedWith: string) => {
      const { body, headers } = testDelivery({ secret: signedWith });
      return (await handle(body, headers)).status;
    };
    expect(await send('the older secret')).toBe(200);
    current = 'the newer secret';
    expect([await send('the newer secret'), await send('the older secret')]).toEqual([200, 401]);
  });

  test('is not called before the first request', () => {
    const never = vi.fn(() => secret);
    receive({ secret: never, onDelivery });
    expect(never).not.toHaveBeenCalled();
  });

  test('leaves the other options in force', async () => {
    const { body, headers } = testDelivery({ secret, now: () => 0 });
    const handle = receive({ secret: () => secret, now: () => 1000, webhookId: 'whk_other', onDelivery });
    expect((await handle(body, headers)).status).toBe(401);
    expect(() => receive({ secret: () => secret, toleranceSeconds: -1, onDelivery })).toThrow(/toleranceSeconds/);
  });
});

test('a function that finds no verifier is answered with 500', async () => {
  const onFailed = vi.fn();
  // A look-up in JavaScript, where no compiler asks for a result.
  const verifier = (() => undefined) as unknown as () => Verifier;
  const { body, headers } = testDelivery({ secret });
  const handle = receive({ verifier, onDelivery, onFailed });
  expect(await handle(body, headers)).toEqual({ status: 500 });
  expect(onFailed).toHaveBeenCalledWith(expect.any(TypeError), undefined);
});

describe('a secret that is missing', () => {
  const MISSING: [string, ReceiveOptions['secret']][] = [
    ['an undefined value', undefined],
    ['an empty value', ''],
    ['a list without a secret', []],
    ['a list with an empty secret', [secret, '']],
    ['a function that returns undefined', () => undefined],
    ['a function that returns an empty text', async () => ''],
  ];

  test.each(MISSING)('throws nothing at the start, and answers 500 to every delivery: %s', async (_title, value) => {
    const errors: unknown[] = [];
    const onFailed: ReceiveOptions['onFailed'] = (error, delivery) => errors.push([String(error), delivery]);
    expect(await statusOf({ secret: value, onFailed })).toBe(500);
    expect(errors).toEqual([['TypeError: secret: is undefined or empty. Set its environment variable.', undefined]]);
  });

  test.each([
    ['of another type', () => 12 as unknown as string, /secret: must be/],
    ['with white space around it', () => ' secret', /white space/],
    ['that cannot be looked up', () => Promise.reject(new Error('the vault is sealed')), /the vault is sealed/],
  ])('a function for a secret %s is answered with 500', async (_title, secret, problem) => {
    const errors: unknown[] = [];
    expect(await statusOf({ secret, onFailed: (error) => errors.push(error) })).toBe(500);
    expect(String(errors[0])).toMatch(problem);
  });

  test('is written to the console without onFailed, and not for each delivery', async () => {
    const console = vi.spyOn(globalThis.console, 'error').mockImplementation(() => {});
    let current: string | undefined;
    const handle = receive({ secret: () => current, onDelivery });
    const { body, headers } = testDelivery({ secret });
    const send = async () => (await handle(body, headers)).status;
    expect([await send(), await send()]).toEqual([500, 500]);
    current = secret;
    expect(await send()).toBe(200);
    // A stranger who can choose the secret by a header must not get a line for each change either.
    current = undefined;
    expect(await send()).toBe(500);
    expect(console).toHaveBeenCalledTimes(1);
    expect(JSON.parse(String(console.mock.calls[0]))).toMatchObject({
      ...{ level: 'error', event: 'receiver.failed', message: expect.stringMatching(/^secret: /) },
      error: 'secret: is undefined or empty. Set its environment variable.',
    });
    expect(console.mock.calls.join()).not.toContain(secret);
  });
});

test('a verifier may be a function, which fails on the request and not at the start', async () => {
  const errors: unknown[] = [];
  const verifier = () => standardVerifier('');
  const handle = receive({ verifier, onDelivery, onFailed: (error) => errors.push(String(error)) });
  expect(await handle('', {})).toEqual({ status: 500 });
  expect(errors).toEqual([expect.stringMatching(/^TypeError: secret: must be a non-empty string/)]);
  const challenging = receive({
    verifier: async () => ({ safeVerify: () => ({ ok: true, challenge: 'c' }) as const }),
    onDelivery,
  });
  expect((await challenging('', {})).status).toBe(200);
});

describe('every adapter passes its request to the function for the secret', () => {
  const delivery = testDelivery({ secret });
  const inHeader = { ...delivery, headers: { ...delivery.headers, tenant: 'acme' } };
  const SECRETS: Readonly<Record<string, string>> = { acme: secret };

  test('fetch, with the environment of the platform', async () => {
    interface Env {
      readonly WEBHOOK_SECRET: string;
    }
    const handle = fetchReceiver({ secret: (_request, env: Env) => env.WEBHOOK_SECRET, onDelivery });
    expectTypeOf(handle).parameter(1).toEqualTypeOf<Env | undefined>();
    expect((await handle(new Request('http://x/', delivery), { WEBHOOK_SECRET: secret })).status).toBe(200);
    const byHeader = fetchReceiver({ secret: ({ headers }) => SECRETS[headers.get('tenant') ?? ''], onDelivery });
    expect((await byHeader(new Request('http://x/', inHeader))).status).toBe(200);
    expect((await byHeader(new Request('http://x/', { ...delivery, headers: { tenant: 'other' } }))).status).toBe(500);
  });

  test('fetch, whose handler fits the types of Workers and of route handlers', () => {
    type Handler<Env> = (request: Request, env: Env, ctx: { waitUntil(work: Promise<unknown>): void }) => unknown;
    const { fetch } = {
      fetch: fetchReceiver({ secret: (_request, env) => env.WEBHOOK_SECRET, onDelivery }),
    } satisfies { fetch: Handler<{ readonly WEBHOOK_SECRET: string }> };
    expectTypeOf(fetch).parameter(1).toEqualTypeOf<{ readonly WEBHOOK_SECRET: string } | undefined>();
    const POST = fetchReceiver({ secret: () => process.env.SVC_NOT_SET, onDelivery });
    expectTypeOf(POST).toExtend<(request: Request, context: { params: Promise<unknown> }) => Promise<Response>>();
    expectTypeOf(POST).toBeCallableWith(new Request('http://x/'));
  });

  test('Hono, with its context', async () => {
    const app = new Hono<{ Bindings: { WEBHOOK_SECRET: string } }>();
    app.post('/', honoReceiver({ secret: (c) => c.env.WEBHOOK_SECRET, onDelivery }));
    expect((await app.request('/', delivery, { WEBHOOK_SECRET: secret })).status).toBe(200);
    expect((await app.request('/', delivery, { WEBHOOK_SECRET: 'another secret' })).status).toBe(401);
  });

  test('Lambda, with the event', async () => {
    const handler = lambdaReceiver({ secret: ({ headers }) => SECRETS[headers?.tenant ?? ''], onDelivery });
    const event: LambdaEvent = { httpMethod: 'POST', body: inHeader.body, headers: inHeader.headers };
    expect((await handler(event)).statusCode).toBe(200);
  });

  test('Fastify, with its request', async () => {
    const app = Fastify();
    await app.register(fastifyReceiver({ secret: ({ raw }) => SECRETS[String(raw.headers.tenant)], onDelivery }));
    const { method, body, headers } = inHeader;
    expect((await app.inject({ method, url: '/', payload: body, headers })).statusCode).toBe(200);
  });

  test('node:http and Express, with their requests', async () => {
    const { createServer } = await import('node:http');
    const own = nodeReceiver({ secret: ({ headers }) => SECRETS[String(headers.tenant)], onDelivery });
    const app = express().post(
      '/',
      expressReceiver({ secret: ({ headers }) => SECRETS[String(headers.tenant)], onDelivery }),
    );
    for (const listener of [own, app]) {
      const server = createServer(listener);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      const { status } = await fetch(`http://127.0.0.1:${port}/`, inHeader);
      server.closeAllConnections();
      server.close();
      expect(status).toBe(200);
    }
  });
});
