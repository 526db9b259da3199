import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Admittance, type GuardOptions, guard } from '../guard.ts';
import type { Principal } from '../principal.ts';
import type { Peer, PeerCertificate, RequestHead } from '../request-head.ts';

export type { GuardOptions } from '../guard.ts';

/**
 * Who is at the other end of a socket. A client certificate is asked for by the TLS server's `requestCert`.
 *
 * @example
 * const outcome = await auth.authenticate({ headers: request.headers, headersDistinct: request.headersDistinct, peer: peerOf(request.socket) });
 */
export function peerOf(socket: Socket): Peer {
  return { address: socket.remoteAddress, certificate: () => certificateOf(socket) };
}

/** The part of a TLS socket that is needed; a plain one has none of it. */
interface MaybeTls {
  readonly authorized?: boolean;
  getPeerX509Certificate?(): { readonly raw: Uint8Array; readonly issuerCertificate?: Issuer } | undefined;
  getPeerCertificate?(detailed: true): Issuer | undefined;
}

interface Issuer {
  readonly raw?: Uint8Array;
  readonly issuerCertificate?: Issuer;
}

function certificateOf(socket: Socket & MaybeTls): PeerCertificate | undefined {
  const leaf = socket.getPeerCertificate?.(true);
  if (leaf?.raw === undefined) return undefined;
  return { der: leaf.raw, issuers: issuersOf(leaf), trusted: socket.authorized === true };
}

/** A root is its own issuer, at which the walk ends; it is bounded all the same. */
function issuersOf(leaf: Issuer): readonly Uint8Array[] {
  const issuers: Uint8Array[] = [];
  let current = leaf;
  while (issuers.length < 8) {
    const above = current.issuerCertificate;
    if (above?.raw === undefined || above === current) break;
    issuers.push(above.raw);
    current = above;
  }
  return issuers;
}

/** A request of Express, which may have cut its mount path off `url`. */
export interface NodeRequest extends IncomingMessage {
  readonly originalUrl?: string;
  principal?: Principal;
}

/**
 * A guard for `node:http`. A caller that may not is answered here.
 *
 * @returns the caller, or undefined when there is nothing left to do
 * @example
 * const admitted = nodeGuard({ authenticator: auth, scope: 'runs:read' });
 * createServer(async (request, response) => {
 *   const principal = await admitted(request, response);
 *   if (principal !== undefined) handle(request, response, principal);
 * });
 */
export function nodeGuard(
  options: GuardOptions,
): (request: NodeRequest, response: ServerResponse) => Promise<Principal | undefined> {
  const admittance = guard(options);
  return async (request, response) => settle(await admittance(headOf(request)), response);
}

/**
 * A guard as an Express middleware: `request.principal` is the caller.
 *
 * @example
 * app.get('/runs', expressGuard({ authenticator: auth, scope: 'runs:read' }), (request, response) => response.json(runsOf(request.principal.tenancy)));
 */
export function expressGuard(
  options: GuardOptions,
): (request: NodeRequest, response: ServerResponse, next: (error?: unknown) => void) => void {
  const admitted = nodeGuard(options);
  return (request, response, next) => {
    admitted(request, response).then((principal) => {
      if (principal === undefined) return;
      request.principal = principal;
      next();
    }, next);
  };
}

/** What is needed of Fastify's reply. */
export interface FastifyReply {
  code(status: number): FastifyReply;
  header(name: string, value: string): FastifyReply;
  send(body: string): unknown;
}

/**
 * A guard as a Fastify `onRequest` hook, of a route or of a scope: `request.principal` is the caller.
 *
 * @example
 * app.decorateRequest('principal', null);
 * app.get('/runs', { onRequest: fastifyGuard({ authenticator: auth, scope: 'runs:read' }) }, async (request) => runsOf(request.principal.tenancy));
 */
export function fastifyGuard(
  options: GuardOptions,
): (request: { readonly raw: IncomingMessage; principal?: Principal | null }, reply: FastifyReply) => Promise<unknown> {
  const admittance = guard(options);
  return async (request, reply) => {
    const verdict = await admittance(headOf(request.raw));
    const { headers } = verdict.admitted ? verdict : verdict.refusal;
    for (const [name, value] of Object.entries(headers)) reply.header(name, value);
    if (!verdict.admitted) return reply.code(verdict.refusal.status).send(verdict.refusal.body);
    request.principal = verdict.principal;
    return undefined;
  };
}

/** The requests of Fastify's `inject()` are not Node's: they have no repeats to tell, and perhaps no socket. */
function headOf(request: NodeRequest): RequestHead {
  const { method, url, originalUrl, headers, headersDistinct } = request;
  const socket: Socket | undefined = request.socket;
  return { method, url, originalUrl, headers, headersDistinct, peer: socket && peerOf(socket) };
}

function settle(verdict: Admittance, response: ServerResponse): Principal | undefined {
  const { headers } = verdict.admitted ? verdict : verdict.refusal;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (verdict.admitted) return verdict.principal;
  response.writeHead(verdict.refusal.status).end(verdict.refusal.body);
  return undefined;
}
