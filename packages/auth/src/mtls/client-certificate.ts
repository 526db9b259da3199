import { sha256Base64url } from '#sha256';
import { headerValues, type RequestHead } from '../request-head.ts';
import { type ForwardedFormat, forwardedCertificate } from './forwarded.ts';

/** The certificate of the client that sent a request, however it came to the host. */
export interface ClientCertificate {
  /** SHA-256 of the certificate in base64url, as `cnf` has it. @see RFC 8705, section 3.1 */
  readonly thumbprint: string;
  /** Undefined when a terminator vouched for the thumbprint alone. */
  readonly der: Uint8Array | undefined;
  readonly issuers: readonly Uint8Array[];
  /** Whether a TLS layer found it issued by an authority that it trusts. */
  readonly trusted: boolean;
}

/** Finds the certificate of a request's client. */
export type CertificateOf = (request: RequestHead) => ClientCertificate | undefined;

export interface ClientCertificatesOptions {
  /** A proxy that ends TLS before the host, and tells of the client's certificate in a header. Default: there is none. */
  readonly terminator?: TrustedTerminator;
}

export interface TrustedTerminator {
  /** Whether an address is that of the proxy, e.g. a lookup in a list of networks. */
  readonly isTrustedPeer: (address: string) => boolean;
  /** Which the proxy sets, and removes when a client sent it. In lower case. */
  readonly header: string;
  /** Default: by the name; `x-forwarded-client-cert` is Envoy's, `client-cert` RFC 9440's, any other holds a PEM in percent-encoding. */
  readonly format?: ForwardedFormat;
  /** Whether it lets only certificates of trusted authorities pass. Default true. */
  readonly verifiesChain?: boolean;
}

/**
 * Makes the function that finds a client's certificate: that of the connection, or, on a connection from the trusted terminator,
 * the one in its header. From anyone else the header counts for nothing, and so does the terminator's own certificate.
 *
 * @throws {TypeError} for a header that is no name
 * @example
 * const certificateOf = clientCertificates({ terminator: { isTrustedPeer, header: 'x-forwarded-client-cert' } });
 * @see Interface: Workload identity, item 3; RFC 9440, section 3
 */
export function clientCertificates({ terminator }: ClientCertificatesOptions = {}): CertificateOf {
  if (terminator !== undefined && !/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(terminator.header)) {
    throw new TypeError('clientCertificates: terminator.header must be a header name in lower case, e.g. client-cert.');
  }
  return (request) => {
    const address = request.peer?.address;
    if (terminator !== undefined && address !== undefined && terminator.isTrustedPeer(address)) {
      return forwarded(request, terminator);
    }
    const presented = request.peer?.certificate?.();
    return presented && { ...presented, thumbprint: sha256Base64url(presented.der) };
  };
}

function forwarded(request: RequestHead, terminator: TrustedTerminator): ClientCertificate | undefined {
  const { header, format = formatOf(header), verifiesChain = true } = terminator;
  const [value, ...others] = headerValues(request, header);
  if (value === undefined || others.length > 0) return undefined;
  const found = forwardedCertificate(value, format);
  return found && { ...found, issuers: [], trusted: verifiesChain };
}

function formatOf(header: string): ForwardedFormat {
  if (header === 'x-forwarded-client-cert') return 'xfcc';
  return header === 'client-cert' ? 'rfc9440' : 'pem';
}
