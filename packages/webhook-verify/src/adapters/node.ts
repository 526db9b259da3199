import type { IncomingMessage, ServerResponse } from 'node:http';
import { env } from 'node:process';
import { requireKnown } from '../known-options.ts';
import { receiverOf } from '../receiver.ts';
import { bodyLimits } from './body-limits.ts';
import { isBuild } from './build.ts';
import { type NodeAnswer, readNodeBody, writeNodeAnswer } from './node-body.ts';
import { NODE_RECEIVER_OPTIONS, type NodeReceiverOptions } from './node-receiver-options.ts';

export type { NodeReceiverOptions } from './node-receiver-options.ts';

/**
 * Makes a receiver for `node:http` and frameworks on top of it. It reads the body itself, so no body parser may run
 * before it.
 *
 * @returns a listener for requests
 * @throws {TypeError} when an option is invalid
 * @example
 * import { createServer } from 'node:http';
 * import { receiver } from '@svc/webhook-verify/node';
 *
 * const secret = process.env.WEBHOOK_SECRET;
 * createServer(receiver({ secret, onDelivery: ({ eventType }) => console.log(eventType) })).listen(8788, '127.0.0.1');
 */
export function receiver(options: NodeReceiverOptions): (request: IncomingMessage, response: ServerResponse) => void {
  requireKnown('receiver', options, NODE_RECEIVER_OPTIONS);
  const limits = bodyLimits(options);
  const handle = receiverOf(options, { isServing: !isBuild(env) });

  return (request, response) => {
    void answer(request).then(
      (answer) => writeNodeAnswer(request, response, answer),
      () => writeNodeAnswer(request, response, { status: 500 }),
    );
  };

  async function answer(request: IncomingMessage): Promise<NodeAnswer> {
    if (request.method !== 'POST') return { status: 405 };
    const read = await readNodeBody(request, limits);
    // `headers` drops or joins repeats; `headersDistinct` keeps them, so that a contradiction is rejected.
    return typeof read === 'number' ? { status: read } : handle(read, request.headersDistinct, request);
  }
}
