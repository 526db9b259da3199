import { TokenFault } from '../jwt/signature.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { type ChainVerifier, chainVerifier } from '../mtls/chain.ts';
import type { CertificateOf } from '../mtls/client-certificate.ts';
import { type CertificateFacts, readCertificate } from '../mtls/x509.ts';
import type { WorkloadScheme } from './scheme.ts';
import { checkedTrustDomain, parseSpiffeId } from './spiffe.ts';

/** CA certificates, as PEM text or DER bytes. */
export type Authorities = readonly (string | Uint8Array)[];

/** A trust domain with its authorities. */
export interface X509TrustDomain {
  /** Name of the trust domain. */
  readonly name: string;
  /** The authorities of its bundle. */
  readonly authorities: Authorities;
  /**
   * Intermediates, for clients whose chain does not reach the host: terminators and some releases of Node drop it.
   * Default: none.
   */
  readonly intermediates?: Authorities;
}

/** Options of `x509Svid`. */
export interface X509SvidOptions {
  /** Finds the client certificate of a request, e.g. `clientCertificates()` of `@svc/auth/mtls`. */
  readonly certificateOf: CertificateOf;
  /** Each trust domain with its authorities. They are valid for that trust domain only. */
  readonly trustDomains: readonly X509TrustDomain[];
  /** Name of the trust roots in decision records. Default `spiffe`. */
  readonly issuerClass?: string;
}

const X509_SVID_OPTIONS: OptionNames<X509SvidOptions> = { certificateOf: true, trustDomains: true, issuerClass: true };

/**
 * Makes the scheme of X.509-SVIDs: client certificates whose single URI is a SPIFFE ID, verified up to the authorities
 * of that ID's trust domain. A forwarded certificate comes without its chain, so name the intermediates behind a
 * terminator.
 *
 * @throws {TypeError} when `trustDomains` is empty, has an invalid name, or has an invalid certificate
 * @example
 * const scheme = x509Svid({ certificateOf, trustDomains: [{ name: 'acme.example', authorities: [pem] }] });
 * @see X509-SVID, sections 2 to 5
 */
export function x509Svid(options: X509SvidOptions): WorkloadScheme {
  requireKnown('x509Svid', options, X509_SVID_OPTIONS);
  const { certificateOf, trustDomains, issuerClass = 'spiffe' } = options;
  const verifiers = new Map(
    trustDomains.map(({ name, authorities, intermediates }) => [
      checkedTrustDomain(name),
      chainVerifier(authorities, intermediates),
    ]),
  );
  if (verifiers.size === 0) throw new TypeError('x509Svid: trustDomains must not be empty. Pass at least one.');
  const trustRoots = [...verifiers.keys()].map((name) => `spiffe://${name}`);
  return certificateScheme(
    'spiffe',
    { issuerClass, trustRoots, certificateOf },
    {
      isMine: ({ uris }) => uris.some((uri) => uri.startsWith('spiffe://')),
      identityIn({ uris, isAuthority, keyUsage }) {
        const [uri, ...others] = uris;
        const id = uri === undefined || others.length > 0 ? undefined : parseSpiffeId(uri);
        const verifier = id && verifiers.get(id.trustDomain);
        if (uri === undefined || id === undefined || verifier === undefined || isAuthority) return undefined;
        if (keyUsage?.digitalSignature !== true || keyUsage.signsCertificates) return undefined;
        return { subject: uri, issuer: `spiffe://${id.trustDomain}`, verifier };
      },
    },
  );
}

/** Options of `mtlsSan`. */
export interface MtlsSanOptions {
  /** Finds the client certificate of a request, e.g. `clientCertificates()` of `@svc/auth/mtls`. */
  readonly certificateOf: CertificateOf;
  /** The trusted authorities. */
  readonly authorities: Authorities;
  /** Intermediates, for clients whose chain does not reach the host. Default: none. */
  readonly intermediates?: Authorities;
  /** Name of the trust root in identity records. */
  readonly issuer: string;
  /** Name of the trust root in decision records. Default `mtls-san`. */
  readonly issuerClass?: string;
}

const MTLS_SAN_OPTIONS: OptionNames<MtlsSanOptions> = {
  certificateOf: true,
  authorities: true,
  intermediates: true,
  issuer: true,
  issuerClass: true,
};

/**
 * Makes the scheme of client certificates that are identified by their single DNS name, verified up to given
 * authorities.
 *
 * @throws {TypeError} when `authorities` is empty or an entry is not a CA certificate
 * @example
 * const scheme = mtlsSan({ certificateOf, authorities: [pem], issuer: 'urn:acme:machine-ca' });
 * @see Interface: Workload identity object, scheme `mtls-san`
 */
export function mtlsSan(options: MtlsSanOptions): WorkloadScheme {
  requireKnown('mtlsSan', options, MTLS_SAN_OPTIONS);
  const { certificateOf, authorities, intermediates, issuer, issuerClass = 'mtls-san' } = options;
  const verifier = chainVerifier(authorities, intermediates);
  return certificateScheme(
    'mtls-san',
    { issuerClass, trustRoots: [issuer], certificateOf },
    {
      isMine: ({ uris, dnsNames }) => dnsNames.length > 0 && !uris.some((uri) => uri.startsWith('spiffe://')),
      identityIn({ dnsNames, isAuthority }) {
        const [name, ...others] = dnsNames;
        // A wildcard names no single workload, and two names are ambiguous.
        if (name === undefined || others.length > 0 || isAuthority || !DNS_NAME.test(name)) return undefined;
        return { subject: name.toLowerCase(), issuer, verifier };
      },
    },
  );
}

const DNS_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

interface Found {
  readonly subject: string;
  readonly issuer: string;
  readonly verifier: ChainVerifier;
}

/** A key that may only encrypt, or a certificate for servers or code alone, identifies no client. */
function identifiesClient({ keyUsage, isForClients }: CertificateFacts): boolean {
  return isForClients && (keyUsage === undefined || keyUsage.digitalSignature || keyUsage.keyAgreement);
}

/** A certificate is the identity only in a request without a credential. Beside a token it is the key of the token. */
function certificateScheme(
  scheme: 'spiffe' | 'mtls-san',
  {
    issuerClass,
    trustRoots,
    certificateOf,
  }: Pick<WorkloadScheme, 'issuerClass' | 'trustRoots'> & { readonly certificateOf: CertificateOf },
  rules: {
    readonly isMine: (facts: CertificateFacts) => boolean;
    readonly identityIn: (facts: CertificateFacts) => Found | undefined;
  },
): WorkloadScheme {
  return {
    scheme,
    issuerClass,
    issuers: [],
    trustRoots,
    recognize({ request, credential }) {
      const certificate = credential === undefined ? certificateOf(request) : undefined;
      const { der } = certificate ?? {};
      const facts = der && readCertificate(der);
      if (certificate === undefined || der === undefined || facts === undefined || !rules.isMine(facts))
        return undefined;
      const { uris, dnsNames } = facts;
      return {
        certificate: {
          thumbprint: certificate.thumbprint,
          name: certificate.trusted ? JSON.stringify([uris, dnsNames]) : undefined,
        },
        verify(now) {
          const found = certificate.trusted && identifiesClient(facts) ? rules.identityIn(facts) : undefined;
          if (found === undefined || !found.verifier.verifies(der, certificate.issuers, now)) {
            throw new TokenFault(
              'unverified',
              'Its certificate is not for clients, or does not chain to an authority that this host trusts for it.',
              { reason: 'identity' },
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
