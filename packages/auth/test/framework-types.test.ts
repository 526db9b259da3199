import { authenticator, type Principal } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import * as forExpress from '@svc/auth/express';
import * as forFastify from '@svc/auth/fastify';
import * as forHono from '@svc/auth/hono';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { describe, expect, expectTypeOf, test } from 'vitest';

const KEY = 'reader-key-of-this-test-0123456789';
const authorization = `Bearer ${KEY}`;
const keys = memoryKeyStore([
  {
    id: 'key_1',
    hash: hashApiKey(KEY),
    tenant: 'acme',
    workspaces: 'all',
    principal: 'p_1',
    scopes: ['runs:read'],
    mode: 'live',
  },
]);
const options = { authenticator: authenticator({ lanes: [apiKeyLane({ keys })] }), scope: 'runs:read' };

describe('the caller is readable without a cast', () => {
  test('in Express: request.principal may be undefined, and principalOf(request) may not', () => {
    express().get('/runs', forExpress.guard(options), (request, response) => {
      expectTypeOf(request.principal).toEqualTypeOf<Principal | undefined>();
      expectTypeOf(forExpress.principalOf(request)).toEqualTypeOf<Principal>();
      response.end();
    });
    // A handler that a class holds, as NestJS has it, names the request's type.
    const read = (request: express.Request) => request.principal;
    expectTypeOf(read).returns.toEqualTypeOf<Principal | undefined>();
  });

  test('in Fastify: request.principal may be undefined, and principalOf(request) may not', async () => {
    const app = fastify();
    app.addHook('onRequest', forFastify.guard(options));
    app.get('/runs', async (request) => {
      expectTypeOf(request.principal).toEqualTypeOf<Principal | undefined>();
      expectTypeOf(forFastify.principalOf(request)).toEqualTypeOf<Principal>();
      return forFastify.principalOf(request).id;
    });
    const answer = await app.inject({ url: '/runs', headers: { authorization } });
    expect([answer.statusCode, answer.body]).toEqual([200, 'p_1']);
  });

  test('in Hono: on the guarded route, after a guard for a path, and with GuardVariables', async () => {
    const guard = forHono.guard(options);
    const onRoute = new Hono<{ Bindings: { KEY: string } }>().get('/runs', guard, (c) => {
      expectTypeOf(c.get('principal')).toEqualTypeOf<Principal>();
      expectTypeOf(c.var.principal).toExtend<Principal>();
      expectTypeOf(c.env).toEqualTypeOf<{ KEY: string }>();
      return c.text(c.get('principal').id);
    });
    const chained = new Hono().use(guard).get('/runs', (c) => {
      expectTypeOf(c.get('principal')).toEqualTypeOf<Principal>();
      return c.text(c.get('principal').id);
    });
    const apart = new Hono();
    apart.use('/runs', guard);
    apart.get('/runs', (c) => {
      expectTypeOf(c.get('principal')).toEqualTypeOf<Principal | undefined>();
      expectTypeOf(forHono.principalOf(c)).toEqualTypeOf<Principal>();
      return c.text(forHono.principalOf(c).id);
    });
    const declared = new Hono<{ Variables: forHono.GuardVariables }>();
    declared.use('/runs', guard);
    declared.get('/runs', (c) => {
      expectTypeOf(c.get('principal')).toEqualTypeOf<Principal>();
      return c.text(c.get('principal').id);
    });
    for (const app of [onRoute, chained, apart, declared]) {
      const answer = await app.request('/runs', { headers: { authorization } });
      expect([answer.status, await answer.text()]).toEqual([200, 'p_1']);
    }
  });
});

describe('principalOf without a guard says what is missing', () => {
  const message = /: is not set, as no guard has run for this request\. Put the guard before this handler\.$/;

  test.each([
    ['Express', forExpress.principalOf],
    ['Fastify', forFastify.principalOf],
  ])('in %s', (_name, principalOf) => {
    expect(() => principalOf({})).toThrow(message);
    expect(() => principalOf({})).toThrow(TypeError);
  });

  test('in Hono', async () => {
    const app = new Hono().get('/', (c) => c.text(forHono.principalOf(c).id));
    app.onError((error, c) => c.text(String(error), 500));
    expect(await (await app.request('/')).text()).toMatch(message);
  });
});
