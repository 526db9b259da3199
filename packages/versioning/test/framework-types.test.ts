import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as forExpress from '../src/adapters/express.ts';
import * as forFastify from '../src/adapters/fastify.ts';
import * as forHono from '../src/adapters/hono.ts';
import type { NegotiatedOperation } from '../src/adapters/verdict.ts';
import { served } from '../src/index.ts';

const options = { served: served({ versions: ['1.1', '2.0'], preferred: '1.1' }) };

describe('the operation is readable without a cast', () => {
  test('in Express: request.svc may be undefined, and operationOf(request) may not', () => {
    express()
      .use(forExpress.versioning(options))
      .get('/runs/:id', (request, response) => {
        expectTypeOf(request.svc).toEqualTypeOf<NegotiatedOperation | undefined>();
        expectTypeOf(forExpress.operationOf(request)).toEqualTypeOf<NegotiatedOperation>();
        response.end();
      });
  });

  test('in Fastify: request.svc may be undefined, and operationOf(request) may not', async () => {
    const app = fastify();
    await app.register(forFastify.versioning(options));
    app.get('/runs/:id', async (request) => {
      expectTypeOf(request.svc).toEqualTypeOf<NegotiatedOperation | undefined>();
      expectTypeOf(forFastify.operationOf(request)).toEqualTypeOf<NegotiatedOperation>();
      return forFastify.operationOf(request).operation.operationId;
    });
    expect((await app.inject({ url: '/runs/r' })).body).toBe('readRun');
  });

  test('in Hono: with the variables of the application, and without', async () => {
    const apart = new Hono();
    apart.use(forHono.versioning(options));
    apart.get('/runs/:id', (c) => {
      expectTypeOf(c.get('svc')).toEqualTypeOf<NegotiatedOperation | undefined>();
      expectTypeOf(forHono.operationOf(c)).toEqualTypeOf<NegotiatedOperation>();
      return c.text(forHono.operationOf(c).operation.operationId);
    });
    const declared = new Hono<{ Variables: forHono.VersioningVariables; Bindings: { KEY: string } }>();
    declared.use(forHono.versioning(options));
    declared.get('/runs/:id', (c) => {
      expectTypeOf(c.get('svc')).toEqualTypeOf<NegotiatedOperation | undefined>();
      expectTypeOf(c.var.svc).toEqualTypeOf<NegotiatedOperation | undefined>();
      expectTypeOf(c.env).toEqualTypeOf<{ KEY: string }>();
      return c.text(c.get('svc')?.operation.operationId ?? 'foreign');
    });
    for (const app of [apart, declared]) expect(await (await app.request('/runs/r')).text()).toBe('readRun');
  });
});

describe('operationOf without an operation says what is missing', () => {
  const message = /: is not set\. Negotiate before this handler, and call it only for paths that the protocol has\.$/;

  test.each([
    ['Express', forExpress.operationOf],
    ['Fastify', forFastify.operationOf],
  ])('in %s', (_name, operationOf) => {
    expect(() => operationOf({})).toThrow(message);
    expect(() => operationOf({})).toThrow(TypeError);
  });

  test('in Hono, on a path outside the protocol', async () => {
    const app = new Hono().use(forHono.versioning(options)).get('/elsewhere', (c) => {
      return c.text(forHono.operationOf(c).operation.operationId);
    });
    app.onError((error, c) => c.text(String(error), 500));
    expect(await (await app.request('/elsewhere')).text()).toMatch(message);
  });
});
