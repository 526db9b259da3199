import type { IncomingMessage } from 'node:http';
import type { HeaderSource } from '../index.ts';
import { receive } from '../receive.ts';
import { bodyLimits } from './body-limits.ts';
import type { NodeReceiverOptions } from './node.ts';
import { type NodeAnswer, readNodeBody } from './node-body.ts';

export interface FastifyReceiverOptions extends NodeReceiverOptions {
  /** Where the receiver listens. Default `/`, under the prefix that it is registered with. */
  readonly path?: string;
}

/** What is needed of Fastify's instance. */
export interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    contentType: '*',
    parser: (request: unknown, payload: unknown, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

export interface FastifyRequest {
  readonly raw: IncomingMessage;
}

export interface FastifyReply {
  code(status: number): FastifyReply;
  header(name: string, value: string): FastifyReply;
  send(body?: string): unknown;
}

/**
 * A receiver as a Fastify plugin. It has a scope of its own in which nothing parses bodies; the rest of the application keeps its
 * parsers.
 *
 * @throws {TypeError} for options that are wrong
 * @example
 * await app.register(toFastifyPlugin({ path: '/webhooks', secret, onDelivery: (delivery) => { … } }));
 */
export function toFastifyPlugin(options: FastifyReceiverOptions): (scope: FastifyScope) => Promise<void> {
  const limits = bodyLimits(options);
  const handle = receive(options);

  return async (scope) => {
    scope.removeAllContentTypeParsers();
    // Leaves the stream alone.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.post(options.path ?? '/', async ({ raw }, reply) => {
      const read = await readNodeBody(raw, limits);
      const answer: NodeAnswer = typeof read === 'number' ? { status: read } : await handle(read, headersOf(raw));
      // A body that was not read to its end must not be taken for the next request.
      if (!raw.complete) reply.header('connection', 'close');
      if (answer.body !== undefined) reply.header('content-type', 'application/json');
      return reply.code(answer.status).send(answer.body);
    });
  };
}

/** The requests of `inject()` are not Node's, and have the plain form alone. */
function headersOf({ headers, headersDistinct }: Partial<IncomingMessage>): HeaderSource {
  return headersDistinct ?? headers ?? {};
}
