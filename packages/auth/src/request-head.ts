/**
 * The part of a request that authentication reads. A Web `Request`, Node's `IncomingMessage`, an Express request and
 * Fastify's `request.raw` fit without conversion.
 */
export interface RequestHead {
  /** HTTP method. DPoP proofs are checked against it. */
  readonly method?: string | undefined;
  /**
   * URL or request target. DPoP proofs are checked against it. A credential in a URL is never read: RFC 6750, section
   * 5.3.
   */
  readonly url?: string | undefined;
  /** The request target before Express removed the mount path. Preferred to `url`. */
  readonly originalUrl?: string | undefined;
  /** Web `Headers`, or a record of header values. */
  readonly headers:
    | {
        /** Returns the values of a header, joined; null without one. */
        get(name: string): string | null;
      }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Node's record of headers with repeats. Preferred to `headers`, which has dropped or joined them. */
  readonly headersDistinct?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
  /** Node's list of names and values as sent. Read where there is no `headersDistinct`: Node's HTTP/2 has none. */
  readonly rawHeaders?: readonly string[] | undefined;
  /** The other end of the connection. Undefined when the platform does not give it. */
  readonly peer?: Peer | undefined;
}

/** The other end of a connection, which may be a proxy. `peerOf` of `@svc/auth/node` makes one from a socket. */
export interface Peer {
  /** IP address of the other end. Undefined when the platform does not give it. */
  readonly address?: string | undefined;
  /** Reads the client certificate; undefined when none was presented. A function, because reading costs time. */
  readonly certificate?: () => PeerCertificate | undefined;
}

/** The certificate that the other end presented. TLS has proved that it holds the private key. */
export interface PeerCertificate {
  /** The certificate in DER. */
  readonly der: Uint8Array;
  /** The known certificates above it in DER, nearest first. */
  readonly issuers: readonly Uint8Array[];
  /** Whether the TLS layer verified it up to an authority that it is configured to trust. */
  readonly trusted: boolean;
}

/**
 * Returns every value of a header, repeats included.
 *
 * @param name in lower case; a plain record may spell its names in any case
 */
export function headerValues({ headers, headersDistinct, rawHeaders }: RequestHead, name: string): readonly string[] {
  if (headersDistinct !== undefined) return headersDistinct[name] ?? NONE;
  if (rawHeaders !== undefined) return rawValues(rawHeaders, name);
  if (hasGet(headers)) {
    const value = headers.get(name);
    return value === null ? NONE : [value];
  }
  return recordValues(headers, name);
}

/** Reads alternating names and values. In `headers` of HTTP/2, Node has dropped the repeats of a header. */
function rawValues(raw: readonly string[], name: string): readonly string[] {
  return raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === name);
}

/**
 * Reads a record whose names may be in any case: some platforms do not lower-case them, and two spellings are a repeat.
 */
function recordValues(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): readonly string[] {
  let values = NONE;
  for (const key in headers) {
    // The length is compared first: it is cheaper than lower-casing, and most names differ in it.
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
