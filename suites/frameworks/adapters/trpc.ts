import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TrpcCaller, trpcContext } from '@svc/auth/trpc';
import { initTRPC, TRPCError } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { createHTTPHandler } from '@trpc/server/adapters/standalone';
import { makeAuth } from './auth.js';

const t = initTRPC.context<TrpcCaller>().create();
const withScope = (scope?: string) =>
  t.procedure.use(({ ctx, next }) => next({ ctx: { principal: ctx.require(scope) } }));
const router = t.router({
  runs: withScope('runs:read').query(({ ctx }) => ctx.principal.id),
  create: withScope('runs:create').query(({ ctx }) => ctx.principal.id),
  page: t.procedure.query(({ ctx }) => ctx.principal?.id ?? 'nobody'),
});

/** The procedures, for clients. */
export type Router = typeof router;

/** Starts the procedures behind the adapter for Node. */
export async function start() {
  const createContext = trpcContext({ authenticator: makeAuth(), TRPCError });
  const server = createServer(createHTTPHandler({ router, createContext }));
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

/** Makes a handler of Web requests. */
export function makeHandler() {
  const createContext = trpcContext({ authenticator: makeAuth(), TRPCError });
  return (req: Request) => fetchRequestHandler({ endpoint: '/', req, router, createContext });
}
