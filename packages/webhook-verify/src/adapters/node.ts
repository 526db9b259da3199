import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ReceiveOptions, receive } from '../receive.ts';
import { type BodyLimits, bodyLimits } from './body-limits.ts';
import { type NodeAnswer, readNodeBody, writeNodeAnswer } from './node-body.ts';

export interface NodeReceiverOptions extends ReceiveOptions, BodyLimits {}

/**
 * A receiver for `node:http` and what is built on it. It reads the body itself, so no body parser may run before it.
 *
 * @throws {TypeError} for options that are wrong
 * @example
 * createServer(toNodeHandler({ secret, onDelivery: (delivery) => console.log(delivery.eventType) })).listen(8788);
 */
export function toNodeHandler(
  options: NodeReceiverOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const limits = bodyLimits(options);
  const handle = receive(options);

  return (request, response) => {
    void answer(request).then(
      (answer) => writeNodeAnswer(request, response, answer),
      () => writeNodeAnswer(request, response, { status: 500 }),
    );
  };

  async function answer(request: IncomingMessage): Promise<NodeAnswer> {
    if (request.method !== 'POST') return { status: 405 };
    const read = await readNodeBody(request, limits);
    // `headers` has already dropped or joined repeats; `headersDistinct` still has them.
    return typeof read === 'number' ? { status: read } : handle(read, request.headersDistinct);
  }
}
