import * as tls from 'node:tls';

/**
 * Makes the TLS settings: the trusted authorities and TLS 1.2 as the lowest version. They are made once per guard,
 * because reading some 150 authorities costs more than a connection.
 *
 * @param ca PEM certificates that are trusted in addition to those of the runtime
 */
export function trust(ca: readonly string[]): tls.SecureContext {
  return tls.createSecureContext({
    ...(ca.length > 0 && { ca: [...tls.getCACertificates('default'), ...ca] }),
    minVersion: 'TLSv1.2',
  });
}
