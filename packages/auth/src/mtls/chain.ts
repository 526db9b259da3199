import { X509Certificate } from 'node:crypto';
import { readCertificate } from './x509.ts';

/** Verifies that an authority issued a certificate, directly or through intermediates. */
export interface ChainVerifier {
  /** Returns whether the chain of `leaf` is valid at `now`, in milliseconds since the epoch. */
  verifies(leaf: Uint8Array, issuers: readonly Uint8Array[], now: number): boolean;
}

/**
 * Makes a verifier of chains up to the given authorities and no others. It checks signatures, names, validity periods,
 * that every issuer may issue, and the length of the path. Name and policy constraints are left to the TLS layer, which has verified the same
 * chain.
 *
 * @param authorities certificates as PEM text or DER bytes
 * @param intermediates known intermediates, for clients whose chain does not reach the host: some releases of Node drop
 * it
 * @throws {TypeError} when `authorities` is empty, or an entry is not a CA certificate
 * @see RFC 5280, section 6.1
 */
export function chainVerifier(
  authorities: readonly (string | Uint8Array)[],
  intermediates: readonly (string | Uint8Array)[] = [],
): ChainVerifier {
  const roots = authorities.map((given, at) => authority(given, `authorities[${at}]`));
  const known = intermediates.map((given, at) => authority(given, `intermediates[${at}]`));
  if (roots.length === 0)
    throw new TypeError('authorities: must not be empty. Pass at least one CA certificate in PEM or DER.');

  return {
    verifies(leaf, issuers, now) {
      const sent = issuers.slice(0, MAX_DEPTH).map(parsed);
      const start = parsed(leaf);
      return start !== undefined && reaches(start, [...known, ...sent.filter((found) => found !== undefined)], now, 0);
    },
  };

  function reaches(
    certificate: X509Certificate,
    among: readonly X509Certificate[],
    now: number,
    intermediates: number,
  ): boolean {
    if (!isCurrent(certificate, now)) return false;
    const mayIssue = (issuer: X509Certificate) => allows(issuer, intermediates) && issued(issuer, certificate);
    if (roots.some((root) => isCurrent(root, now) && mayIssue(root))) return true;
    if (intermediates === MAX_DEPTH) return false;
    return among.some((issuer) => {
      if (!issuer.ca || !mayIssue(issuer)) return false;
      return reaches(
        issuer,
        among.filter((other) => other !== issuer),
        now,
        intermediates + 1,
      );
    });
  }
}

const MAX_DEPTH = 4;

function authority(given: string | Uint8Array, name: string): X509Certificate {
  const certificate = parsed(given);
  if (certificate?.ca !== true)
    throw new TypeError(`${name}: must be a CA certificate in PEM or DER. Pass the issuer, not the leaf.`);
  return certificate;
}

function parsed(given: string | Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(given);
  } catch {
    return undefined;
  }
}

function issued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Returns whether an authority may stand above so many intermediates. @see RFC 5280, section 4.2.1.9 */
function allows(issuer: X509Certificate, intermediates: number): boolean {
  const facts = readCertificate(issuer.raw);
  return facts !== undefined && (facts.pathLength === undefined || intermediates <= facts.pathLength);
}

function isCurrent(certificate: X509Certificate, now: number): boolean {
  const facts = readCertificate(certificate.raw);
  return facts !== undefined && facts.notBefore <= now && now <= facts.notAfter;
}
