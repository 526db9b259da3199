import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { peerOf } from '@svc/auth/node';
import type { Host } from '../host.ts';

/**
 * A host as a listener for `node:http`, and so for Express and Fastify.
 *
 * A request target that Node passes on and `URL` would read as another path is answered 400 here: routing must judge what was
 * sent, not what it was normalised to.
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
    // Head and body in one write; a `Response` would be read as a stream first, which costs as much as the whole pipeline.
    const length = typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0);
    const hasLength = body !== undefined || !(status === 204 || status === 304 || incoming.method === 'HEAD');
    outgoing.writeHead(status, hasLength ? { ...headers, 'content-length': length } : headers).end(body);
    return ALREADY_SENT;
  }
}

interface Connection {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** The library's sign that there is nothing left to write. */
const ALREADY_SENT = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });

/** Origin form with a path that `URL` leaves as it is. What it does to a query changes no route. */
function isPlainTarget(target: string): boolean {
  if (!target.startsWith('/') || target.startsWith('//') || target.includes('#')) return false;
  const url = URL.canParse(target, 'http://host') ? new URL(target, 'http://host') : undefined;
  return url?.host === 'host' && url.pathname === target.split('?', 1)[0];
}

function refuse(response: ServerResponse): void {
  const message = 'The request target must be a plain absolute path, without dot segments, fragment or white space.';
  response.writeHead(400, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error: 'validation_error', message }));
}
