import type { CryptoKey } from 'jose';
import { decodeBase64url } from '#base64url';
import type { Algorithm } from './algorithms.ts';
import type { Jwt } from './jwt.ts';

/**
 * Returns whether a key made the signature of a token. One call of Web Crypto: the rules of the header and the
 * canonical encoding were checked when the token was parsed.
 *
 * @param key a key that was imported for this algorithm
 * @see RFC 7515, section 5.2; RFC 7518, section 3; RFC 8037, section 3.1
 */
export function verifiesSignature({ token }: Jwt, key: CryptoKey, algorithm: Algorithm): Promise<boolean> {
  const end = token.lastIndexOf('.');
  const signature = decodeBase64url(token.slice(end + 1));
  const signed = ASCII.encode(token.slice(0, end));
  return crypto.subtle.verify(PARAMETERS[algorithm], key, signature, signed);
}

const ASCII = new TextEncoder();

const ecdsa = (hash: string): EcdsaParams => ({ name: 'ECDSA', hash });
const pss = (bits: number): RsaPssParams => ({ name: 'RSA-PSS', saltLength: bits / 8 });
const pkcs1 = { name: 'RSASSA-PKCS1-v1_5' };
const ed25519 = { name: 'Ed25519' };

const PARAMETERS: Readonly<Record<Algorithm, AlgorithmIdentifier | EcdsaParams | RsaPssParams>> = {
  RS256: pkcs1,
  RS384: pkcs1,
  RS512: pkcs1,
  PS256: pss(256),
  PS384: pss(384),
  PS512: pss(512),
  ES256: ecdsa('SHA-256'),
  ES384: ecdsa('SHA-384'),
  ES512: ecdsa('SHA-512'),
  EdDSA: ed25519,
  Ed25519: ed25519,
};
