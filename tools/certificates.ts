import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

export { ExtendedKeyUsageExtension, KeyUsageFlags };

cryptoProvider.set(crypto);

/** A certificate with its private key. It can issue others. */
export interface Issued {
  readonly certificate: X509Certificate;
  readonly keys: CryptoKeyPair;
  readonly der: Uint8Array;
  readonly pem: string;
  /** The private key in PEM. */
  readonly keyPem: string;
}

export interface CertificateRequest {
  readonly uris?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly isAuthority?: boolean;
  readonly keyUsage?: number;
  /** Most authorities below this one. Default: no limit. */
  readonly pathLength?: number;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly extensions?: readonly Extension[];
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
let serial = 1;

/** Issues a certificate. Without an issuer it is self-signed. */
export async function issue(name: string, request: CertificateRequest = {}, issuer?: Issued): Promise<Issued> {
  const { uris = [], dnsNames = [], isAuthority = false, extensions = [] } = request;
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const names = [
    ...uris.map((value) => ({ type: 'url' as const, value })),
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
  ];
  const { notBefore = new Date(Date.now() - 60_000), notAfter = new Date(Date.now() + 3_600_000) } = request;
  const usage = isAuthority ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign : KeyUsageFlags.digitalSignature;
  const certificate = await X509CertificateGenerator.create({
    serialNumber: (serial++).toString(16).padStart(4, '0'),
    subject: `CN=${name}`,
    issuer: issuer?.certificate.subject ?? `CN=${name}`,
    notBefore,
    notAfter,
    publicKey: keys.publicKey,
    signingKey: issuer?.keys.privateKey ?? keys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(isAuthority, request.pathLength, true),
      new KeyUsagesExtension(request.keyUsage ?? usage, true),
      ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : []),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...(issuer === undefined ? [] : [await AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey)]),
      ...extensions,
    ],
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    certificate,
    keys,
    der: new Uint8Array(certificate.rawData),
    pem: `${certificate.toString('pem')}\n`,
    keyPem: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
  };
}
