import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerHeaders } from './answer-headers.ts';
import type { BodyLimits, BodyRead } from './body-limits.ts';

/**
 * Reads the body of a request within its limits. Afterwards the request is paused, without listeners of this function.
 */
export function readNodeBody(
  request: IncomingMessage,
  { maxBodyBytes, bodyTimeoutMs }: Required<BodyLimits>,
): Promise<BodyRead> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return resolve(413);
    // A request that was cut off, or already read to its end, never emits `end` again.
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

/** The answer of a receiver, or of an adapter that rejects a request before the receiver sees it. */
export interface NodeAnswer {
  /** The status of the answer. */
  readonly status: number;
  /** The body of the answer, as JSON. Default: empty. */
  readonly body?: string;
  /** The value of the header `Retry-After`, in seconds. Default: no such header. */
  readonly retryAfterSeconds?: number;
}

/** Writes an answer. A 405 gets the header `Allow: POST`. */
export function writeNodeAnswer(request: IncomingMessage, response: ServerResponse, answer: NodeAnswer): void {
  const { status, body } = answer;
  // Closes after a body that was not read to its end: the rest of it would be parsed as the next request.
  if (!request.complete) response.setHeader('connection', 'close');
  if (status === 405) response.setHeader('allow', 'POST');
  response.writeHead(status, answerHeaders(answer)).end(body);
}
