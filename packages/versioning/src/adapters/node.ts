import type { IncomingMessage, ServerResponse } from 'node:http';
import { type NegotiatedOperation, type Verdict, type VersioningOptions, verdictOn } from './verdict.ts';

export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

/**
 * Negotiates a request of `node:http`. Sends the response to a request that the versioning rules reject; for an
 * operation, sets `SVC-Version` and the retirement headers on the response.
 *
 * @returns the operation; `foreign` for a path outside the protocol; `answered` when the response has been sent
 * @example
 * import { createServer } from 'node:http';
 * import { served } from '@svc/versioning';
 * import { negotiateRequest } from '@svc/versioning/node';
 *
 * const protocol = served({ versions: ['1.1', '2.0'], preferred: '1.1' });
 * createServer((request, response) => {
 *   const found = negotiateRequest(request, response, { served: protocol });
 *   if (found === 'foreign') response.writeHead(404).end();
 *   else if (found !== 'answered') response.end(found.operation.operationId);
 * });
 */
export function negotiateRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: VersioningOptions,
): NegotiatedOperation | 'foreign' | 'answered' {
  return settle(verdictOfTarget(request, request.url ?? '', options), response);
}

/** A request of Express. */
export interface ExpressRequest extends IncomingMessage {
  /** The request target as received. Express removes the mount path of a router from `url`. */
  readonly originalUrl?: string;
  /** The operation, set by {@link expressVersioning}; undefined on a path outside the protocol. */
  svc?: NegotiatedOperation;
}

/**
 * Creates an Express middleware for version negotiation, which sets `request.svc` to the operation. Requests that the
 * versioning rules reject never reach the next handler.
 *
 * @example
 * import { served } from '@svc/versioning';
 * import { expressVersioning } from '@svc/versioning/node';
 * import express from 'express';
 *
 * const app = express();
 * app.use(expressVersioning({ served: served({ versions: ['1.1', '2.0'], preferred: '1.1' }) }));
 */
export function expressVersioning(
  options: VersioningOptions,
): (request: ExpressRequest, response: ServerResponse, next: () => void) => void {
  return (request, response, next) => {
    const found = settle(verdictOfTarget(request, request.originalUrl ?? request.url ?? '', options), response);
    if (found === 'answered') return;
    if (found !== 'foreign') request.svc = found;
    next();
  };
}

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  /** Declares `request.svc`. */
  decorateRequest(name: 'svc', value: null): unknown;
  /** Registers the hook that negotiates each request. */
  addHook(
    name: 'onRequest',
    hook: (
      request: { readonly raw: IncomingMessage; svc?: NegotiatedOperation | null },
      reply: FastifyReply,
    ) => Promise<unknown>,
  ): unknown;
}

/** The part of Fastify's reply that the plugin uses. */
export interface FastifyReply {
  /** Sets the HTTP status. */
  code(status: number): FastifyReply;
  /** Sets a response header. */
  header(name: string, value: string): FastifyReply;
  /** Sends the body and ends the reply. */
  send(body: string): unknown;
}

/**
 * Creates a Fastify plugin that negotiates every request of the application and sets `request.svc` to the operation.
 * Requests that the versioning rules reject never reach a route.
 *
 * @example
 * import { served } from '@svc/versioning';
 * import { fastifyVersioning } from '@svc/versioning/node';
 * import fastify from 'fastify';
 *
 * const app = fastify();
 * await app.register(fastifyVersioning({ served: served({ versions: ['1.1', '2.0'], preferred: '1.1' }) }));
 */
export function fastifyVersioning(options: VersioningOptions): (scope: FastifyScope) => Promise<void> {
  const plugin = async (scope: FastifyScope) => {
    scope.decorateRequest('svc', null);
    scope.addHook('onRequest', async (request, reply) => {
      const verdict = verdictOfTarget(request.raw, request.raw.url ?? '', options);
      if (verdict.kind === 'foreign') return undefined;
      for (const [name, value] of verdict.headers) reply.header(name, value);
      if (verdict.kind === 'answered') return reply.code(verdict.status).send(verdict.body);
      request.svc = verdict.negotiation;
      return undefined;
    });
  };
  // Without this mark Fastify would encapsulate the plugin, and its hook would not see the application's routes.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}

function verdictOfTarget(
  { method = '', headers, headersDistinct }: IncomingMessage,
  target: string,
  options: VersioningOptions,
): Verdict {
  return verdictOn({ method, target, headers, headersDistinct }, options);
}

function settle(verdict: Verdict, response: ServerResponse): NegotiatedOperation | 'foreign' | 'answered' {
  if (verdict.kind === 'foreign') return 'foreign';
  for (const [name, value] of verdict.headers) response.setHeader(name, value);
  if (verdict.kind === 'operation') return verdict.negotiation;
  response.writeHead(verdict.status).end(verdict.body);
  return 'answered';
}
