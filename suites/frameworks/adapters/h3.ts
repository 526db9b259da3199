import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callerOf, guard, principalOf } from '@svc/auth/h3';
import * as current from 'h3';
import { toNodeHandler } from 'h3/node';
import * as former from 'h3-v1';
import { makeAuth } from './auth.js';

/** Starts an application of the current major version of h3. */
export function start() {
  const guards = makeGuards();
  const app = new current.H3();
  app.get('/runs', current.defineHandler({ middleware: [guards.runs], handler: (event) => principalOf(event).id }));
  app.use('/tokens', guards.tokens);
  app.get('/tokens', (event) => principalOf(event).id);
  app.get(
    '/page',
    current.defineHandler({ middleware: [guards.page], handler: (event) => callerOf(event)?.id ?? 'nobody' }),
  );
  app.get('/open', () => 'open');
  app.get('/unguarded', (event) => principalOf(event).id);
  return listening(toNodeHandler(app));
}

/** Starts an application of version 1 of h3, which Nitro 2 and Nuxt have. */
export function startFormer() {
  const guards = makeGuards();
  const router = former.createRouter();
  const { defineEventHandler } = former;
  router.get(
    '/runs',
    defineEventHandler({ onRequest: [async (e) => void (await guards.runs(e))], handler: (e) => principalOf(e).id }),
  );
  router.get(
    '/page',
    defineEventHandler({
      onRequest: [async (e) => void (await guards.page(e))],
      handler: (e) => callerOf(e)?.id ?? 'nobody',
    }),
  );
  router.get(
    '/tokens',
    defineEventHandler((e) => principalOf(e).id),
  );
  router.get(
    '/open',
    defineEventHandler(() => 'open'),
  );
  router.get(
    '/unguarded',
    defineEventHandler((e) => principalOf(e).id),
  );
  const app = former.createApp();
  // As a file of `server/middleware` of Nitro does it.
  app.use(defineEventHandler((event) => (event.path.startsWith('/tokens') ? guards.tokens(event) : undefined)));
  app.use(router);
  return listening(former.toNodeListener(app));
}

function makeGuards() {
  const authenticator = makeAuth();
  return {
    runs: guard({ authenticator, scope: 'runs:read' }),
    tokens: guard({ authenticator, lanes: ['bearer-token'] }),
    page: guard({ authenticator, scope: 'runs:read', optional: true }),
  };
}

async function listening(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
