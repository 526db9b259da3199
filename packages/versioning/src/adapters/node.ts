import type { IncomingMessage, ServerResponse } from 'node:http';
import { type NegotiatedOperation, type Verdict, type VersioningOptions, verdictOn } from './verdict.ts';

export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

/**
 * Negotiates a request of `node:http`. What the versioning rules refuse is answered here; on the response to an operation the headers are
 * set already.
 *
 * @returns the operation; `foreign` for what is no matter of the protocol; `answered` when there is nothing left to do
 * @example
 * createServer((request, response) => {
 *   const operation = negotiateRequest(request, response, { served: protocol });
 *   if (operation !== 'answered') handle(request, response, operation);
 * });
 */
export function negotiateRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: VersioningOptions,
): NegotiatedOperation | 'foreign' | 'answered' {
  return settle(verdictOfTarget(request, request.url ?? '', options), response);
}

/** A request of Express, which may have cut its mount path off `url`. */
export interface ExpressRequest extends IncomingMessage {
  readonly originalUrl?: string;
  svc?: NegotiatedOperation;
}

/**
 * Negotiation as an Express middleware: `request.svc` is the operation.
 *
 * @example
 * app.use(expressVersioning({ served: protocol }));
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

/** What is needed of Fastify's instance. */
export interface FastifyScope {
  decorateRequest(name: 'svc', value: null): unknown;
  addHook(
    name: 'onRequest',
    hook: (
      request: { readonly raw: IncomingMessage; svc?: NegotiatedOperation | null },
      reply: FastifyReply,
    ) => Promise<unknown>,
  ): unknown;
}

export interface FastifyReply {
  code(status: number): FastifyReply;
  header(name: string, value: string): FastifyReply;
  send(body: string): unknown;
}

/**
 * Negotiation as a Fastify plugin for the whole application: `request.svc` is the operation.
 *
 * @example
 * await app.register(fastifyVersioning({ served: protocol }));
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
  // Fastify's sign for a plugin that acts on who registers it, rather than on a scope of its own.
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
