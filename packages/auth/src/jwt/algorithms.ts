/** Signature algorithms that a host may accept. All are asymmetric: the verifier cannot sign. */
export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** A signature algorithm of `ALGORITHMS`. */
export type Algorithm = (typeof ALGORITHMS)[number];

/** The default of every `algorithms` option: the algorithms of current identity providers. */
export const DEFAULT_ALGORITHMS: readonly Algorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

export function isAlgorithm(name: unknown): name is Algorithm {
  return ALGORITHMS.some((algorithm) => algorithm === name);
}

/** Returns the key type of an algorithm. @see RFC 7518, section 6; RFC 8037, section 2 */
export function keyTypeOf(algorithm: Algorithm): { readonly kty: 'RSA' | 'EC' | 'OKP'; readonly crv?: string } {
  if (algorithm === 'EdDSA' || algorithm === 'Ed25519') return { kty: 'OKP', crv: 'Ed25519' };
  return algorithm.startsWith('ES') ? { kty: 'EC', crv: CURVES[algorithm.slice(2)] ?? '' } : { kty: 'RSA' };
}

const CURVES: Readonly<Record<string, string>> = { 256: 'P-256', 384: 'P-384', 512: 'P-521' };
