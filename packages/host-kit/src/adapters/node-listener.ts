import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { peerOf } from '@svc/auth/node';
import type { Host } from '../host.ts';
import type { RequestFault } from '../http/request-fault.ts';
import { faultOf } from './http-fault.ts';
import { judgeTarget } from './request-target.ts';

/**
 * Adapts a host to `node:http`, and so to Express and Fastify.
 *
 * Answers 400 to a request target whose path `URL` would normalise. Otherwise routing could judge another path than the
 * client sent. The absolute form is accepted when its authority is that of `Host`. Answers 400 to two `Host` lines and to a `Transfer-Encoding` in HTTP/1.0, and 501 to another
 * `Transfer-Encoding` than `chunked`.
 *
 * @example
 * createServer(toNodeListener(host)).listen(8787, '127.0.0.1');
 */
export function toNodeListener(
  host: Pick<Host, 'answer'>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const faults = new WeakMap<IncomingMessage, RequestFault>();
  const listen = getRequestListener((request, env) => answered(request, env as Connection), {
    overrideGlobalObjects: false,
    // HTTP/1.0 has no Host. The host never reads it: its origin is configured.
    hostname: 'localhost',
  });
  return (request, response) => {
    const judged = judgeTarget(request.url ?? '', request.headers.host);
    if (judged === undefined) return refuse(response);
    request.url = judged.target;
    if (judged.fault !== undefined) faults.set(request, judged.fault);
    void listen(request, response);
  };

  async function answered(request: Request, { incoming, outgoing }: Connection): Promise<Response> {
    const fault = faultOf(incoming) ?? faults.get(incoming);
    const { status, headers, body } = await host.answer(request, peerOf(incoming.socket), fault);
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

/**
 * Puts a host in front of a framework, for an app that serves operations of the protocol itself. The host answers requests
 * that frameworks read in different ways: two `Host` lines, another transfer coding, a target that `URL` changes, or one
 * that is not percent-encoded UTF-8. Every other request reaches the listener, with its path as target when it came in the
 * absolute form.
 *
 * @param listener of the framework, which must pass the paths of the protocol that it does not serve to the host
 * @example
 * const server = hostServer(refuseMalformed(host, app));
 * answerParserErrors(server, host);
 * @see RFC 9112, sections 3.2 and 6.1
 */
export function refuseMalformed(
  host: Pick<Host, 'answer'>,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const refuse = toNodeListener(host);
  return (request, response) => {
    const judged = judgeTarget(request.url ?? '', request.headers.host);
    if (judged === undefined || judged.fault !== undefined || faultOf(request) || !isDecodable(judged.target)) {
      return refuse(request, response);
    }
    request.url = judged.target;
    listener(request, response);
  };
}

/** Routers decode the segments of a path, and answer with a page of their own when they cannot. */
function isDecodable(target: string): boolean {
  if (!target.includes('%')) return true;
  try {
    decodeURIComponent(target.split('?', 1)[0] ?? '');
    return true;
  } catch {
    return false;
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
const ALREADY_SENT = alreadySent();

function alreadySent(): Response {
  const response = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
  // Hono's `serve` replaces the global class by one that the listener writes without a look at its headers, until a part of it
  // was asked for.
  void response.body;
  return response;
}

/** A target without a path is in no form that a host takes, so it is no request of the protocol. */
function refuse(response: ServerResponse): void {
  const message = 'The request target is no path. Send an absolute path, such as /v1/runs.';
  response.writeHead(400, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error: 'validation_error', message }));
}
