import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { authenticator } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { guard as expressGuard } from '@svc/auth/express';
import { guard as fastifyGuard } from '@svc/auth/fastify';
import { guard as fetchGuard } from '@svc/auth/fetch';
import { guard as honoGuard } from '@svc/auth/hono';
import { guard as nodeGuard, peerOf } from '@svc/auth/node';
import { clientAddress, memoryRateLimiter } from '@svc/auth/rate-limit';
import { covers } from '@svc/tools/covers';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const { Request, Response } = globalThis;
// Hono's `serve` replaces them, for every test after it in this process.
afterAll(() => void Object.assign(globalThis, { Request, Response }));

const [READER, WRITER] = ['reader-key-of-this-test-0123456789', 'writer-key-of-this-test-0123456789'];
/** The clock stands still, so that no limit is granted again while a busy machine is slow. */
const now = () => Date.UTC(2026, 5, 1);

function options() {
  const record = { tenant: 'acme', workspaces: 'all', mode: 'live' } as const;
  const keys = memoryKeyStore([
    { ...record, id: 'key_r', hash: hashApiKey(READER), principal: 'p_r', scopes: ['runs:read'] },
    { ...record, id: 'key_w', hash: hashApiKey(WRITER), principal: 'p_w', scopes: ['runs:create'] },
  ]);
  const auth = authenticator({
    lanes: [apiKeyLane({ keys, now })],
    refusals: { limiter: memoryRateLimiter({ limit: 4, windowSeconds: 60, now }), clientOf: clientAddress() },
  });
  const limiter = memoryRateLimiter({ limit: 3, windowSeconds: 60, now });
  const forRuns = { authenticator: auth, limiter, scope: 'runs:read' };
  return { forRuns, forPage: { authenticator: auth, optional: true } as const };
}

/** Each framework with `/api/runs`, which answers the id of the caller, and `/api/page`, which needs no credential. */
const FRAMEWORKS: Record<string, () => Promise<{ url: string; stop(): Promise<unknown> }>> = {
  async 'node:http'() {
    const { forRuns, forPage } = options();
    const [mayRead, maySee] = [nodeGuard(forRuns), nodeGuard(forPage)];
    const server = createServer(async (request, response) => {
      if (request.url === '/api/page') {
        const caller = await maySee(request, response);
        if (caller !== undefined) response.end(caller.principal?.id ?? 'nobody');
        return;
      }
      const principal = await mayRead(request, response);
      if (principal !== undefined) response.end(principal.id);
    });
    return listening(server);
  },
  async Express() {
    const app = express();
    const router = express.Router();
    const { forRuns, forPage } = options();
    router.get('/runs', expressGuard(forRuns), (request, response) => {
      response.end(request.principal?.id);
    });
    router.get('/page', expressGuard(forPage), (request, response) => {
      response.end(request.principal?.id ?? 'nobody');
    });
    app.use('/api', router);
    return listening(createServer(app));
  },
  async Fastify() {
    const app = fastify();
    const { forRuns, forPage } = options();
    app.get('/api/runs', { onRequest: fastifyGuard(forRuns) }, async (request) => request.principal?.id);
    app.get('/api/page', { onRequest: fastifyGuard(forPage) }, async (request) => request.principal?.id ?? 'nobody');
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, stop: () => app.close() };
  },
  async Hono() {
    const app = new Hono<{ Bindings: { incoming: IncomingMessage } }>();
    const { forRuns, forPage } = options();
    app.get('/api/runs', honoGuard({ ...forRuns, peerOf: (c) => peerOf(c.env.incoming.socket) }), (c) =>
      c.text(c.get('principal').id),
    );
    app.get('/api/page', honoGuard(forPage), (c) => c.text(c.get('principal')?.id ?? 'nobody'));
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
    await new Promise((resolve) => (server.listening ? resolve(undefined) : server.once('listening', resolve)));
    return { url: urlOf(server), stop: () => closed(server) };
  },
  async 'a Web handler'() {
    const { forRuns, forPage } = options();
    const handler = fetchGuard(forRuns, (_request, principal) => new Response(principal.id));
    const page = fetchGuard(forPage, (_request, principal) => new Response(principal?.id ?? 'nobody'));
    const app = new Hono<{ Bindings: { incoming: IncomingMessage } }>();
    app.all('/api/page', (c) => page(c.req.raw));
    app.all('*', (c) => handler(c.req.raw, peerOf(c.env.incoming.socket)));
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
    await new Promise((resolve) => (server.listening ? resolve(undefined) : server.once('listening', resolve)));
    return { url: urlOf(server), stop: () => closed(server) };
  },
};

describe.each(Object.entries(FRAMEWORKS))('%s', (_name, start) => {
  let running: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running.stop());

  async function get(authorization?: string, path = '/api/runs') {
    const response = await fetch(running.url + path, authorization === undefined ? {} : { headers: { authorization } });
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  test('serves an admitted caller, with the headers of its limit', async () => {
    const { status, headers, body } = await get(`Bearer ${READER}`);
    expect({ status, body }).toEqual({ status: 200, body: 'p_r' });
    expect(headers.get('ratelimit')).toMatch(/^"default";r=2;t=\d+$/);
  });

  test('refuses a caller without a credential', async () => {
    const { status, headers, body } = await get();
    expect({ status, challenge: headers.get('www-authenticate') }).toEqual({ status: 401, challenge: 'Bearer' });
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(JSON.parse(body)).toMatchObject({ error: 'unauthenticated' });
  });

  test('refuses a caller without the scope, and checks the limit before the scope', async () => {
    for (let turn = 0; turn < 3; turn++) {
      const { status, body } = await get(`Bearer ${WRITER}`);
      expect({ status, scope: JSON.parse(body).scopeRequired }).toEqual({ status: 403, scope: 'runs:read' });
    }
    const { status, headers, body } = await get(`Bearer ${WRITER}`);
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect(headers.get('ratelimit')).toMatch(/^"default";r=0;t=\d+$/);
    expect(JSON.parse(body)).toMatchObject({ error: 'rate_limited', details: { limit: 3, window: 60 } });
  });

  test('serves a route whose credential is optional, and refuses a wrong one there', async () => {
    expect(await get(undefined, '/api/page')).toMatchObject({ status: 200, body: 'nobody' });
    expect(await get(`Bearer ${WRITER}`, '/api/page')).toMatchObject({ status: 200, body: 'p_w' });
    expect(await get(`Bearer ${'wrong'.repeat(8)}`, '/api/page')).toMatchObject({ status: 401 });
  });

  test('refuses two Authorization headers', async () => {
    const { status } = await get(`Bearer ${READER}, Bearer ${READER}`);
    expect(status).toBe(401);
  });

  test(covers('auth.rate-limit.valid-key-unaffected', 'auth.rate-limit.anonymous-by-address'), async () => {
    for (let turn = 0; turn < 6; turn++) await get(`Bearer ${'guess'.repeat(8)}`);
    expect((await get(`Bearer ${'guess'.repeat(8)}`)).status).toBe(429);
    expect((await get(`Bearer ${READER}`)).status).toBe(200);
  });
});

async function listening(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: urlOf(server), stop: () => closed(server) };
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function closed(server: Server): Promise<unknown> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
}
