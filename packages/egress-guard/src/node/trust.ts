import * as tls from 'node:tls';

/**
 * Whom certificates are accepted from, and from which version of TLS on. Made once: reading some 150 authorities for each connection
 * would cost more than the connection.
 *
 * @param ca PEM certificates that are trusted beside the runtime's own
 */
export function trust(ca: readonly string[]): tls.SecureContext {
  return tls.createSecureContext({
    ...(ca.length > 0 && { ca: [...tls.getCACertificates('default'), ...ca] }),
    minVersion: 'TLSv1.2',
  });
}
