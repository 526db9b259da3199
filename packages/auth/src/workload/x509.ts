import { TokenFault } from '../jwt/signature.ts';
import { type ChainVerifier, chainVerifier } from '../mtls/chain.ts';
import type { CertificateOf } from '../mtls/client-certificate.ts';
import { type CertificateFacts, readCertificate } from '../mtls/x509.ts';
import type { WorkloadScheme } from './scheme.ts';
import { checkedTrustDomain, parseSpiffeId } from './spiffe.ts';

/** Certificates of authorities, as PEM text or DER bytes. */
export type Authorities = readonly (string | Uint8Array)[];

export interface X509TrustDomain {
  readonly name: string;
  readonly authorities: Authorities;
  /** Issuers in between, for clients whose chain does not reach the host: terminators and some releases of Node drop it. */
  readonly intermediates?: Authorities;
}

export interface X509SvidOptions {
  /** Finds the certificate of a request's client, as `clientCertificates` of `@svc/auth/mtls` does. */
  readonly certificateOf: CertificateOf;
  /** Each trust domain with the authorities of its bundle: they vouch for no other. */
  readonly trustDomains: readonly X509TrustDomain[];
  /** Default `spiffe`. */
  readonly issuerClass?: string;
}

/**
 * X.509-SVIDs: client certificates whose one URI is a SPIFFE ID, verified up to the authorities of that ID's own trust domain. A
 * certificate that a trusted terminator forwards comes without its chain, so name what is in between.
 *
 * @throws {TypeError} for a trust domain or an authority that is none
 * @example
 * const scheme = x509Svid({ certificateOf, trustDomains: [{ name: 'acme.example', authorities: [pem] }] });
 * @see X509-SVID, sections 2 to 5
 */
export function x509Svid({ certificateOf, trustDomains, issuerClass = 'spiffe' }: X509SvidOptions): WorkloadScheme {
  const verifiers = new Map(
    trustDomains.map(({ name, authorities, intermediates }) => [
      checkedTrustDomain(name),
      chainVerifier(authorities, intermediates),
    ]),
  );
  if (verifiers.size === 0) throw new TypeError('x509Svid: trustDomains must not be empty. Pass at least one.');
  return certificateScheme('spiffe', issuerClass, certificateOf, {
    isMine: ({ uris }) => uris.some((uri) => uri.startsWith('spiffe://')),
    identityIn({ uris, isAuthority, keyUsage }) {
      const [uri, ...others] = uris;
      const id = uri === undefined || others.length > 0 ? undefined : parseSpiffeId(uri);
      const verifier = id && verifiers.get(id.trustDomain);
      if (uri === undefined || id === undefined || verifier === undefined || isAuthority) return undefined;
      if (keyUsage?.digitalSignature !== true || keyUsage.signsCertificates) return undefined;
      return { subject: uri, issuer: `spiffe://${id.trustDomain}`, verifier };
    },
  });
}

export interface MtlsSanOptions {
  readonly certificateOf: CertificateOf;
  readonly authorities: Authorities;
  readonly intermediates?: Authorities;
  /** What the trust root is called in identity records. */
  readonly issuer: string;
  /** Default `mtls-san`. */
  readonly issuerClass?: string;
}

/**
 * Client certificates by their one DNS name, verified up to given authorities.
 *
 * @throws {TypeError} for an authority that is none
 * @example
 * const scheme = mtlsSan({ certificateOf, authorities: [pem], issuer: 'urn:acme:machine-ca' });
 * @see Interface: Workload identity object, scheme `mtls-san`
 */
export function mtlsSan(options: MtlsSanOptions): WorkloadScheme {
  const { certificateOf, authorities, intermediates, issuer, issuerClass = 'mtls-san' } = options;
  const verifier = chainVerifier(authorities, intermediates);
  return certificateScheme('mtls-san', issuerClass, certificateOf, {
    isMine: ({ uris, dnsNames }) => dnsNames.length > 0 && !uris.some((uri) => uri.startsWith('spiffe://')),
    identityIn({ dnsNames, isAuthority }) {
      const [name, ...others] = dnsNames;
      // A wildcard names no workload, and of two names neither is the one.
      if (name === undefined || others.length > 0 || isAuthority || !DNS_NAME.test(name)) return undefined;
      return { subject: name.toLowerCase(), issuer, verifier };
    },
  });
}

const DNS_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

interface Found {
  readonly subject: string;
  readonly issuer: string;
  readonly verifier: ChainVerifier;
}

/** A certificate is the identity only of a request that presents nothing else: beside a token it is what the token is bound to. */
function certificateScheme(
  scheme: 'spiffe' | 'mtls-san',
  issuerClass: string,
  certificateOf: CertificateOf,
  rules: {
    readonly isMine: (facts: CertificateFacts) => boolean;
    readonly identityIn: (facts: CertificateFacts) => Found | undefined;
  },
): WorkloadScheme {
  return {
    scheme,
    issuerClass,
    issuers: [],
    recognize({ request, credential }) {
      const certificate = credential === undefined ? certificateOf(request) : undefined;
      const { der } = certificate ?? {};
      const facts = der && readCertificate(der);
      if (certificate === undefined || der === undefined || facts === undefined || !rules.isMine(facts))
        return undefined;
      return {
        verify(now) {
          const found = certificate.trusted ? rules.identityIn(facts) : undefined;
          if (found === undefined || !found.verifier.verifies(der, certificate.issuers, now)) {
            throw new TokenFault(
              'unverified',
              'Its certificate does not chain to an authority that this host trusts for it.',
            );
          }
          const { subject, issuer } = found;
          const { thumbprint } = certificate;
          return {
            scheme,
            subject,
            issuer,
            audiences: undefined,
            expiresAt: facts.notAfter,
            certificateThumbprint: thumbprint,
          };
        },
      };
    },
  };
}
