import type { IncomingMessage, ServerResponse } from 'node:http';
import { rawBody } from '../body.ts';
import { receive } from '../receive.ts';
import { bodyLimits } from './body-limits.ts';
import type { NodeReceiverOptions } from './node.ts';
import { type NodeAnswer, readNodeBody, writeNodeAnswer } from './node-body.ts';

/** What is needed of Express's request: what its body parsers may have left behind. */
export interface ExpressRequest extends IncomingMessage {
  readonly body?: unknown;
}

export type ExpressHandler = (
  request: ExpressRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * A receiver for an Express route. It reads the body itself, or takes the bytes that `express.raw()` has read.
 *
 * @returns a handler that passes a TypeError to `next` when a parser has replaced the body by an object: mount the route before
 * `app.use(express.json())`
 * @throws {TypeError} for options that are wrong
 * @example
 * app.post('/webhooks', toExpressHandler({ secret, onDelivery: (delivery) => { … } }));
 */
export function toExpressHandler(options: NodeReceiverOptions): ExpressHandler {
  const limits = bodyLimits(options);
  const handle = receive(options);

  return (request, response, next) => {
    answer(request).then((answer) => writeNodeAnswer(request, response, answer), next);
  };

  async function answer(request: ExpressRequest): Promise<NodeAnswer> {
    if (request.method !== 'POST') return { status: 405 };
    const read = request.body === undefined ? await readNodeBody(request, limits) : rawBody(request.body);
    if (typeof read === 'number') return { status: read };
    if (read.length > limits.maxBodyBytes) return { status: 413 };
    return handle(read, request.headersDistinct);
  }
}
