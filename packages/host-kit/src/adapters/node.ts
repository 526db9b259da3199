import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { peerOf } from '@svc/auth/node';
import type { Host } from '../host.ts';

/**
 * Adapts a host to `node:http`, and so to Express and Fastify.
 *
 * Answers 400 to a request target whose path `URL` would normalise. Otherwise routing could judge another path than the
 * client sent.
 *
 * @example
 * createServer(toNodeListener(host)).listen(8787);
 */
export function toNodeListener(
  host: Pick<Host, 'answer'>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const listen = getRequestListener((request, env) => answered(request, env as Connection), {
    overrideGlobalObjects: false,
  });
  return (request, response) => {
    if (!isPlainTarget(request.url ?? '')) return refuse(response);
    void listen(request, response);
  };

  async function answered(request: Request, { incoming, outgoing }: Connection): Promise<Response> {
    const { status, headers, body } = await host.answer(request, peerOf(incoming.socket));
    if (body instanceof ReadableStream) {
      outgoing.writeHead(status, headers);
      void writeAsTaken(body, outgoing);
      return ALREADY_SENT;
    }
    // Writes head and body at once. Reading a `Response` as a stream would cost as much as the whole pipeline.
    const length = typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0);
    const hasLength = body !== undefined || !(status === 204 || status === 304 || incoming.method === 'HEAD');
    outgoing.writeHead(status, hasLength ? { ...headers, 'content-length': length } : headers).end(body);
    if (length > LARGE_BYTES) leaveWithin(outgoing, TAKE_WITHIN_MS);
    return ALREADY_SENT;
  }
}

/** Writes a stream at the pace of the client: the next piece is read when the one before has left. */
async function writeAsTaken(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  outgoing.once('close', leave);
  if (outgoing.destroyed) leave();
  // Otherwise a stream that fails while the client does not read would stay open without end.
  reader.closed.catch(() => outgoing.destroy());
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!outgoing.write(value)) await drained(outgoing);
    }
    outgoing.end();
    leaveWithin(outgoing, TAKE_WITHIN_MS);
  } catch {
    outgoing.destroy();
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      outgoing.off('drain', go).off('close', go);
      resolve();
    };
    outgoing.on('drain', go).on('close', go);
  });
}

/** Destroys the connection of a client that does not read its answer within `ms`. */
function leaveWithin(outgoing: ServerResponse, ms: number): void {
  const timer = setTimeout(() => outgoing.destroy(), ms).unref();
  outgoing.once('close', () => clearTimeout(timer));
}

/** Smaller bodies fit into the buffers of a socket, so a client that does not read cannot hold them up. */
const LARGE_BYTES = 65_536;
const TAKE_WITHIN_MS = 60_000;

interface Connection {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Tells the request listener that the response is already written. */
const ALREADY_SENT = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });

/** The origin form with a path that `URL` leaves as it is. Its changes to a query choose no other route. */
function isPlainTarget(target: string): boolean {
  if (!target.startsWith('/') || target.startsWith('//') || target.includes('#')) return false;
  const url = URL.canParse(target, 'http://host') ? new URL(target, 'http://host') : undefined;
  return url?.host === 'host' && url.pathname === target.split('?', 1)[0];
}

function refuse(response: ServerResponse): void {
  const message = 'The request target must be an absolute path without dot segments, fragment or white space.';
  response.writeHead(400, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error: 'validation_error', message }));
}
