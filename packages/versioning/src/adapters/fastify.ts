import type { FastifyRequest } from 'fastify';
import { verdictOfTarget } from './node-verdict.ts';
import {
  type NegotiatedOperation,
  requireVersioningOptions,
  VERSIONING_OPTIONS,
  type VersioningOptions,
} from './verdict.ts';

export { type NegotiatedRequest, operationOf } from './negotiated-request.ts';
export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation. Set by `versioning`; undefined on a path outside the protocol. */
    svc?: NegotiatedOperation | undefined;
  }
}

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  /** Declares `request.svc`. */
  decorateRequest(name: 'svc'): unknown;
  /** Registers the hook that negotiates each request. */
  addHook(name: 'onRequest', hook: (request: NegotiableRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

/** The part of Fastify's request that the plugin uses. */
export type NegotiableRequest = Pick<FastifyRequest, 'raw' | 'svc'>;

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
 * Creates a Fastify plugin that negotiates every request of the application. `request.svc` is the operation;
 * `operationOf(request)` is the same without `undefined` in its type. Requests that the versioning rules reject never
 * reach a route.
 *
 * @example
 * import { served } from '@svc/versioning';
 * import { versioning, operationOf } from '@svc/versioning/fastify';
 * import fastify from 'fastify';
 *
 * const app = fastify();
 * await app.register(versioning({ served: served({ versions: ['1.1', '2.0'], preferred: '1.1' }) }));
 * app.get('/v1/runs/:id', async (request) => operationOf(request).params);
 */
export function versioning(options: VersioningOptions): (scope: FastifyScope) => Promise<void> {
  requireVersioningOptions(options, VERSIONING_OPTIONS);
  const plugin = async (scope: FastifyScope) => {
    scope.decorateRequest('svc');
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
