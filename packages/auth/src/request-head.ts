/**
 * The part of a request that authentication looks at. A Web `Request` fits as it is, and so do Node's `IncomingMessage`, an
 * Express request and Fastify's `request.raw`.
 */
export interface RequestHead {
  /** Read by the lanes that check a DPoP proof, as the URL is. A credential in a URL is never read: RFC 6750, section 5.3. */
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Express keeps here what it cut its mount path off. */
  readonly originalUrl?: string | undefined;
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Node's own view with repeats kept. Read instead of `headers` wherever it exists: `headers` has already lost them. */
  readonly headersDistinct?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
  /** Who is at the other end of the connection. Absent where a platform does not tell: then nothing depends on it. */
  readonly peer?: Peer | undefined;
}

/** The other end of a connection, which may be a proxy. `peerOf` of `@svc/auth/node` makes one from a socket. */
export interface Peer {
  readonly address?: string | undefined;
  /** Asked only by who needs it, as reading it costs. Undefined when no certificate came. */
  readonly certificate?: () => PeerCertificate | undefined;
}

/** What the other end presented and proved to hold the private key of. */
export interface PeerCertificate {
  readonly der: Uint8Array;
  /** The certificates above it, nearest first, as far as they are known. */
  readonly issuers: readonly Uint8Array[];
  /** Whether the TLS layer found it issued by an authority that it was told to trust. */
  readonly trusted: boolean;
}

/**
 * Every value of a header, repeats included.
 *
 * @param name in lower case; the names of a plain record may be in any
 */
export function headerValues({ headers, headersDistinct }: RequestHead, name: string): readonly string[] {
  if (headersDistinct !== undefined) return headersDistinct[name] ?? NONE;
  if (hasGet(headers)) {
    const value = headers.get(name);
    return value === null ? NONE : [value];
  }
  return recordValues(headers, name);
}

/** Not every platform lower-cases its names, and two spellings of one name are a repeat. */
function recordValues(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): readonly string[] {
  let values = NONE;
  for (const key in headers) {
    // Most names differ in length, which costs less to see than their case.
    if (key.length !== name.length || key.toLowerCase() !== name || !Object.hasOwn(headers, key)) continue;
    const value = headers[key];
    if (value !== undefined) values = values.concat(value);
  }
  return values;
}

const NONE: readonly string[] = [];

function hasGet(headers: RequestHead['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}
