import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyLimits, BodyRead } from './body-limits.ts';

/** Reads a request's body under its limits; afterwards the request is paused and nobody listens to it. */
export function readNodeBody(
  request: IncomingMessage,
  { maxBodyBytes, bodyTimeoutMs }: Required<BodyLimits>,
): Promise<BodyRead> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return resolve(413);
    // Cut off, or read to its end by somebody else: neither will say `end` again.
    if (request.destroyed || request.readableEnded) return resolve(400);
    const chunks: Uint8Array[] = [];
    let size = 0;
    const timer = setTimeout(() => settle(408), bodyTimeoutMs);
    request.on('data', take).on('end', finish).on('error', fail).on('close', fail);

    function take(chunk: Uint8Array): void {
      size += chunk.length;
      if (size > maxBodyBytes) settle(413);
      else chunks.push(chunk);
    }
    function finish(): void {
      settle(Buffer.concat(chunks, size));
    }
    function fail(): void {
      settle(400);
    }
    function settle(outcome: BodyRead): void {
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

/** What a receiver answers, and what an adapter answers before there is anything to receive. */
export interface NodeAnswer {
  readonly status: number;
  /** JSON. */
  readonly body?: string;
}

/** Writes an answer; 405 says which method there is. */
export function writeNodeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body }: NodeAnswer,
): void {
  // A body that was not read to its end must not be taken for the next request.
  if (!request.complete) response.setHeader('connection', 'close');
  if (status === 405) response.setHeader('allow', 'POST');
  if (body !== undefined) response.setHeader('content-type', 'application/json');
  response.writeHead(status).end(body);
}
