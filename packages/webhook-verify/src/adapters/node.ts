import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ReceiveOptions, receive } from '../receive.ts';

export interface NodeReceiverOptions extends ReceiveOptions {
  /** Larger bodies are answered 413 without being read to the end. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** A body that takes longer is answered 408. Default 10 000 ms. */
  readonly bodyTimeoutMs?: number;
}

/**
 * A receiver for `node:http` and what is built on it. It reads the body itself, so no body parser may run before it.
 *
 * @example
 * createServer(toNodeHandler({ secret, onDelivery: (delivery) => console.log(delivery.eventType) })).listen(8788);
 */
export function toNodeHandler(
  options: NodeReceiverOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { maxBodyBytes = 1_048_576, bodyTimeoutMs = 10_000 } = options;
  const handle = receive(options);

  return (request, response) => {
    void answer(request).then(
      (status) => end(request, response, status),
      () => end(request, response, 500),
    );
  };

  async function answer(request: IncomingMessage): Promise<number> {
    if (request.method !== 'POST') return 405;
    const body = await readBody(request, maxBodyBytes, bodyTimeoutMs);
    // `headers` has already dropped or joined repeats; `headersDistinct` still has them.
    return typeof body === 'number' ? body : handle(body, request.headersDistinct);
  }
}

function end(request: IncomingMessage, response: ServerResponse, status: number): void {
  // A body that was not read to its end must not be taken for the next request.
  if (!request.complete) response.setHeader('connection', 'close');
  if (status === 405) response.setHeader('allow', 'POST');
  response.writeHead(status).end();
}

/** The bytes of the body, or the status that says why there are none. */
function readBody(
  request: IncomingMessage,
  maxBytes: number,
  timeoutMs: number,
): Promise<Uint8Array | 400 | 408 | 413> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return resolve(413);
    const chunks: Uint8Array[] = [];
    let size = 0;
    const timer = setTimeout(() => settle(408), timeoutMs);
    request.on('data', take).on('end', finish).on('error', fail).on('close', fail);

    function take(chunk: Uint8Array): void {
      size += chunk.length;
      if (size > maxBytes) settle(413);
      else chunks.push(chunk);
    }
    function finish(): void {
      settle(Buffer.concat(chunks, size));
    }
    function fail(): void {
      settle(400);
    }
    function settle(outcome: Uint8Array | 400 | 408 | 413): void {
      clearTimeout(timer);
      request
        .off('data', take)
        .off('end', finish)
        .off('error', fail)
        .off('close', fail)
        .on('error', () => {});
      request.pause();
      resolve(outcome);
    }
  });
}
