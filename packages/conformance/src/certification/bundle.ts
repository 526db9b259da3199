import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { canonicalJson } from '../canonical-json.ts';
import type { Report } from '../report/report.ts';
import { isConforming } from './conforming.ts';

/** A report that is signed by the party that ran the suite. */
export interface CertificationBundle {
  /** The version of the form of certification bundles. */
  readonly bundleVersion: '3';
  readonly kind: 'certification';
  /** End of the run, as an RFC 3339 timestamp in UTC. */
  readonly createdAt: string;
  /** True when no check failed and the run looked at all that its profiles require. */
  readonly isConforming: boolean;
  readonly report: Report;
  /** Signature over the canonical JSON (RFC 8785) of the other members, behind the line `svc certification bundle 3`. */
  readonly signature: BundleSignature;
}

/** Signature of a bundle. */
export interface BundleSignature {
  readonly alg: 'ed25519';
  /** Id of the key, as `signingKeys` of a discovery document has it. */
  readonly keyId: string;
  /** 64 bytes in base64url. */
  readonly value: string;
}

/** The key that signs a bundle. */
export interface BundleSigner {
  /** Ed25519 private key in PEM (PKCS #8). */
  readonly privateKey: string;
  /** Id of the key: 1 to 128 characters of `A-Z a-z 0-9 . _ ~ -`. */
  readonly keyId: string;
}

/**
 * Signs a report. A report of a host that does not conform can be signed too; `isConforming` is then false.
 *
 * @throws {TypeError} when the key is no Ed25519 private key in PEM, or its id has another form
 * @example
 * import { generateKeyPairSync } from 'node:crypto';
 * import { certificationBundle, runConformance } from '@svc/conformance';
 *
 * const { privateKey } = generateKeyPairSync('ed25519', {
 *   privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
 *   publicKeyEncoding: { type: 'spki', format: 'pem' },
 * });
 * const report = await runConformance({ url: 'http://127.0.0.1:8787' });
 * console.log(JSON.stringify(certificationBundle(report, { privateKey, keyId: 'certification-2026' })));
 */
export function certificationBundle(report: Report, { privateKey, keyId }: BundleSigner): CertificationBundle {
  if (!KEY_ID.test(keyId))
    throw new TypeError('certificationBundle: keyId must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -.');
  const key = privateKeyIn(privateKey);
  const unsigned = {
    bundleVersion: '3',
    kind: 'certification',
    createdAt: new Date(Date.parse(report.startedAt) + report.durationMs).toISOString(),
    isConforming: isConforming(report),
    // A report can have members that are undefined, which JSON does not have.
    report: JSON.parse(JSON.stringify(report)) as Report,
  } as const;
  const value = sign(null, signedBytes(unsigned), key).toString('base64url');
  return { ...unsigned, signature: { alg: 'ed25519', keyId, value } };
}

const KEY_ID = /^[A-Za-z0-9._~-]{1,128}$/;

function privateKeyIn(pem: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The reason of OpenSSL may quote the text.
  }
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new TypeError(
    'certificationBundle: privateKey must be an Ed25519 private key in PEM. Generate one with `openssl genpkey -algorithm ed25519`.',
  );
}

/** Returns the 32 bytes of the public key of a private key, in base64url. */
export function publicKeyOf(privateKey: string): string {
  return String(createPublicKey(privateKeyIn(privateKey)).export({ format: 'jwk' }).x);
}

/** Returns the bytes that a signature covers. The first line keeps a signature of another use of the key from passing for one of a bundle. */
export function signedBytes(unsigned: object): Buffer {
  return Buffer.from(`svc certification bundle 3\n${canonicalJson(unsigned)}`);
}
