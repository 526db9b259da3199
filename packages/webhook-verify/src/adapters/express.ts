import type { IncomingMessage, ServerResponse } from 'node:http';
import { env } from 'node:process';
import { rawBody } from '../body.ts';
import { requireKnown } from '../known-options.ts';
import { receiverOf } from '../receiver.ts';
import { bodyLimits } from './body-limits.ts';
import { isBuild } from './build.ts';
import { type NodeAnswer, readNodeBody, writeNodeAnswer } from './node-body.ts';
import { NODE_RECEIVER_OPTIONS, type NodeReceiverOptions } from './node-receiver-options.ts';

/** The part of Express's request that the handler reads. */
export interface ExpressRequest extends IncomingMessage {
  /**
   * The result of a body parser that ran before. `express.raw()` leaves the bytes; undefined means that no parser ran.
   */
  readonly body?: unknown;
}

/** A request handler of Express. */
export type ExpressHandler = (
  request: ExpressRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Makes a receiver for an Express route. It reads the body itself, or takes the bytes that `express.raw()` has read.
 * Mount the route before `app.use(express.json())`.
 *
 * @returns a handler; it passes a TypeError to `next` when a parser has replaced the body by an object
 * @throws {TypeError} when an option is invalid
 * @example
 * import { receiver } from '@svc/webhook-verify/express';
 * import express from 'express';
 *
 * const secret = process.env.WEBHOOK_SECRET;
 * const app = express();
 * app.post('/webhooks', receiver({ secret, onDelivery: ({ eventType }) => console.log(eventType) }));
 * app.listen(8788, '127.0.0.1');
 */
export function receiver(options: NodeReceiverOptions<ExpressRequest>): ExpressHandler {
  requireKnown('receiver', options, NODE_RECEIVER_OPTIONS);
  const limits = bodyLimits(options);
  const handle = receiverOf(options, { isServing: !isBuild(env) });

  return (request, response, next) => {
    answer(request).then((answer) => writeNodeAnswer(request, response, answer), next);
  };

  async function answer(request: ExpressRequest): Promise<NodeAnswer> {
    if (request.method !== 'POST') return { status: 405 };
    const read = request.body === undefined ? await readNodeBody(request, limits) : rawBody(request.body);
    if (typeof read === 'number') return { status: read };
    if (read.length > limits.maxBodyBytes) return { status: 413 };
    return handle(read, request.headersDistinct, request);
  }
}
