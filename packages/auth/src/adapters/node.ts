import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Admittance, type GuardOptions, guard } from '../guard.ts';
import type { Principal } from '../principal.ts';
import type { Peer, PeerCertificate, RequestHead } from '../request-head.ts';

export type { GuardOptions } from '../guard.ts';

/**
 * Makes a peer from a socket. Set `requestCert` on the TLS server to request a client certificate.
 *
 * @example
 * const { headers, headersDistinct, socket } = request;
 * const outcome = await auth.authenticate({ headers, headersDistinct, peer: peerOf(socket) });
 */
export function peerOf(socket: Socket): Peer {
  return { address: socket.remoteAddress, certificate: () => certificateOf(socket) };
}

/** The members of a TLS socket that are used. A plain socket has none of them. */
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

/** Walks up to the root, which is its own issuer. At most 8 issuers: a longer or circular chain ends there. */
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

/** A request of `node:http`, Express or Fastify. */
export interface NodeRequest extends IncomingMessage {
  /** The request target before Express removed the mount path. */
  readonly originalUrl?: string;
  /** The caller. Set by `expressGuard`. */
  principal?: Principal;
}

/**
 * Makes a guard for `node:http`. It answers a refused request itself.
 *
 * @returns the caller, or undefined when the request has been answered
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
 * Makes an Express middleware from a guard: `request.principal` is the caller.
 *
 * @example
 * app.get('/runs', expressGuard({ authenticator: auth, scope: 'runs:read' }), (request, response) =>
 *   response.json(runsOf(request.principal.tenancy)),
 * );
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

/** The part of Fastify's reply that the guard uses. */
export interface FastifyReply {
  /** Sets the status. */
  code(status: number): FastifyReply;
  /** Sets a header. */
  header(name: string, value: string): FastifyReply;
  /** Sends the body. */
  send(body: string): unknown;
}

/**
 * Makes a Fastify `onRequest` hook from a guard, for a route or a scope: `request.principal` is the caller.
 *
 * @example
 * app.decorateRequest('principal', null);
 * const onRequest = fastifyGuard({ authenticator: auth, scope: 'runs:read' });
 * app.get('/runs', { onRequest }, async (request) => runsOf(request.principal.tenancy));
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

/** Requests of Fastify's `inject()` have no `headersDistinct` and may have no socket. */
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
