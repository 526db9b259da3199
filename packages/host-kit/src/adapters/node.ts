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
  host: Pick<Host, 'fetch'>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const answer = (request: Request, { incoming }: { readonly incoming: Pick<IncomingMessage, 'socket'> }) =>
    host.fetch(request, peerOf(incoming.socket));
  const listen = getRequestListener((request, env) => answer(request, env as never), { overrideGlobalObjects: false });
  return (request, response) => {
    if (!isPlainTarget(request.url ?? '')) return refuse(response);
    void listen(request, response);
  };
}

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
