import type { IncomingMessage } from 'node:http';
import { env } from 'node:process';
import type { HeaderSource } from '../headers.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { receiverOf } from '../receiver.ts';
import { answerHeaders } from './answer-headers.ts';
import { bodyLimits } from './body-limits.ts';
import { isBuild } from './build.ts';
import { type NodeAnswer, readNodeBody } from './node-body.ts';
import { NODE_RECEIVER_OPTIONS, type NodeReceiverOptions } from './node-receiver-options.ts';

/** The options of {@link receiver}. */
export interface FastifyReceiverOptions extends NodeReceiverOptions<FastifyRequest> {
  /** The path of the route, below the prefix of the registration. Default `/`. */
  readonly path?: string;
}

/** The names of {@link FastifyReceiverOptions}. */
const FASTIFY_OPTIONS: OptionNames<FastifyReceiverOptions> = { ...NODE_RECEIVER_OPTIONS, path: true };

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  /** Removes the body parsers of this scope. */
  removeAllContentTypeParsers(): void;
  /** Adds a body parser for every content type. */
  addContentTypeParser(
    contentType: '*',
    parser: (request: unknown, payload: unknown, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown;
  /** Adds a route for POST requests. */
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

/** The part of Fastify's request that the plugin reads. */
export interface FastifyRequest {
  /** Node's request, whose body no parser has read. */
  readonly raw: IncomingMessage;
}

/** The part of Fastify's reply that the plugin writes. */
export interface FastifyReply {
  /** Sets the status. */
  code(status: number): FastifyReply;
  /** Sets a header. */
  header(name: string, value: string): FastifyReply;
  /** Sends the answer, with a body or without one. */
  send(body?: string): unknown;
}

/**
 * Makes a receiver as a Fastify plugin. Its own scope has no body parser; the rest of the application keeps its
 * parsers.
 *
 * @returns a plugin for `register`
 * @throws {TypeError} when an option is invalid
 * @example
 * import { receiver } from '@svc/webhook-verify/fastify';
 * import type { Delivery } from '@svc/webhook-verify';
 * import Fastify from 'fastify';
 *
 * const secret = process.env.WEBHOOK_SECRET;
 * const app = Fastify();
 * const onDelivery = (delivery: Delivery) => console.log(delivery.eventType);
 * await app.register(receiver({ path: '/webhooks', secret, onDelivery }));
 * await app.listen({ port: 8788 });
 */
export function receiver(options: FastifyReceiverOptions): (scope: FastifyScope) => Promise<void> {
  requireKnown('receiver', options, FASTIFY_OPTIONS);
  const limits = bodyLimits(options);
  const handle = receiverOf(options, { isServing: !isBuild(env) });

  return async (scope) => {
    scope.removeAllContentTypeParsers();
    // Does not read the stream, so that the handler can.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.post(options.path ?? '/', async (request, reply) => {
      const { raw } = request;
      const read = await readNodeBody(raw, limits);
      const answer: NodeAnswer =
        typeof read === 'number' ? { status: read } : await handle(read, headersOf(raw), request);
      // Closes after a body that was not read to its end: the rest of it would be parsed as the next request.
      if (!raw.complete) reply.header('connection', 'close');
      for (const [name, value] of Object.entries(answerHeaders(answer))) reply.header(name, value);
      return reply.code(answer.status).send(answer.body);
    });
  };
}

/** Returns `headersDistinct`, which keeps repeats. The requests of `inject()` have only `headers`. */
function headersOf({ headers, headersDistinct }: Partial<IncomingMessage>): HeaderSource {
  return headersDistinct ?? headers ?? {};
}
