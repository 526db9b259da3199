import { sha256Base64url } from '#sha256';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { headerValues, type RequestHead } from '../request-head.ts';
import { type ForwardedFormat, forwardedCertificate } from './forwarded.ts';

/** The certificate of the client that sent a request, from its connection or from a terminator. */
export interface ClientCertificate {
  /** SHA-256 of the certificate in base64url, as in `cnf`. @see RFC 8705, section 3.1 */
  readonly thumbprint: string;
  /** The certificate in DER. Undefined when a terminator forwarded the thumbprint only. */
  readonly der: Uint8Array | undefined;
  /** The presented certificates above it in DER, nearest first. */
  readonly issuers: readonly Uint8Array[];
  /** Whether a TLS layer verified it up to an authority that it trusts. */
  readonly trusted: boolean;
}

/** Finds the client certificate of a request. */
export type CertificateOf = (request: RequestHead) => ClientCertificate | undefined;

/** Options of `clientCertificates`. */
export interface ClientCertificatesOptions {
  /** A proxy that ends TLS before the host and forwards the client certificate in a header. Default: none. */
  readonly terminator?: TrustedTerminator;
}

const CLIENT_CERTIFICATES_OPTIONS: OptionNames<ClientCertificatesOptions> = { terminator: true };

/** A proxy that ends TLS for the host. */
export interface TrustedTerminator {
  /** Returns whether an address is the proxy, e.g. by a lookup in a list of networks. */
  readonly isTrustedPeer: (address: string) => boolean;
  /** The header, in lower case, that the proxy sets. The proxy must remove it from requests of clients. */
  readonly header: string;
  /**
   * Format of the header. Default: by its name; `x-forwarded-client-cert` is Envoy's, `client-cert` RFC 9440's, and any
   * other is percent-encoded PEM.
   */
  readonly format?: ForwardedFormat;
  /** Whether the proxy accepts only certificates of trusted authorities. Default true. */
  readonly verifiesChain?: boolean;
}

/**
 * Makes the function that finds the client certificate of a request: the certificate of the connection or, on a
 * connection from the trusted terminator, the one in its header. From other peers the header is ignored, and the
 * terminator's own certificate is never used.
 *
 * @throws {TypeError} when `terminator.header` is not a header name in lower case
 * @example
 * const certificateOf = clientCertificates({ terminator: { isTrustedPeer, header: 'x-forwarded-client-cert' } });
 * @see Interface: Workload identity, item 3; RFC 9440, section 3
 */
export function clientCertificates(options: ClientCertificatesOptions = {}): CertificateOf {
  requireKnown('clientCertificates', options, CLIENT_CERTIFICATES_OPTIONS);
  const { terminator } = options;
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
