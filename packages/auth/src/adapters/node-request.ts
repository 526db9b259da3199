import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Socket } from 'node:net';
import type { Peer, PeerCertificate, RequestHead } from '../request-head.ts';

/** A request of `node:http`, or of a framework on top of it. */
export interface NodeRequest extends IncomingMessage {
  /** The request target before Express removed the mount path. */
  readonly originalUrl?: string;
}

/**
 * Makes a request head from a request of Node. Requests of HTTP/2 and of Fastify's `inject()` have no
 * `headersDistinct`, and the latter may have no socket.
 */
export function headOf(request: NodeRequest | Http2ServerRequest): RequestHead {
  const { method, url, headers, rawHeaders } = request;
  const originalUrl = 'originalUrl' in request ? request.originalUrl : undefined;
  const headersDistinct = 'headersDistinct' in request ? request.headersDistinct : undefined;
  const socket: Socket | undefined = request.socket;
  return { method, url, originalUrl, headers, headersDistinct, rawHeaders, peer: socket && peerOf(socket) };
}

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
