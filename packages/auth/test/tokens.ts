import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Algorithm, JsonWebKeySet } from '../src/bearer/index.ts';

/** The key pair of an issuer, for valid and invalid tokens. */
export interface Signer {
  readonly algorithm: Algorithm;
  readonly keyId: string;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly privateKey: CryptoKey;
  /** Signs claims as a correct issuer does. */
  sign(claims: object, header?: object): Promise<string>;
  /** Signs header and payload unchanged, byte by byte. */
  signBytes(header: string | Uint8Array, payload: string | Uint8Array): Promise<string>;
}

export async function signer(algorithm: Algorithm, keyId = `${algorithm}-1`): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return {
    algorithm,
    keyId,
    publicJwk: { ...(await exportJWK(publicKey)), kid: keyId, alg: algorithm, use: 'sig' },
    privateKey,
    sign: (claims, header = {}) =>
      new SignJWT({ ...claims }).setProtectedHeader({ alg: algorithm, kid: keyId, ...header }).sign(privateKey),
    async signBytes(header, payload) {
      const input = `${base64url(header)}.${base64url(payload)}`;
      const signature = await crypto.subtle.sign(PARAMETERS[algorithm] ?? '', privateKey, Buffer.from(input));
      return `${input}.${base64url(new Uint8Array(signature))}`;
    },
  };
}

const PARAMETERS: Readonly<Partial<Record<Algorithm, AlgorithmIdentifier | EcdsaParams>>> = {
  ES256: { name: 'ECDSA', hash: 'SHA-256' },
  RS256: { name: 'RSASSA-PKCS1-v1_5' },
  EdDSA: { name: 'Ed25519' },
};

export function keySetOf(...signers: readonly Signer[]): JsonWebKeySet {
  return { keys: signers.map(({ publicJwk }) => publicJwk) };
}

export function base64url(data: string | Uint8Array): string {
  return Buffer.from(data).toString('base64url');
}
