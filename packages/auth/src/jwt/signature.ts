import { type Algorithm, isAlgorithm } from './algorithms.ts';
import type { Jwt } from './jwt.ts';
import type { KeySource } from './key-set.ts';
import { verifiesSignature } from './verify-signature.ts';

/** The rules for the header of a token. They are checked before its signature. */
export interface HeaderRules {
  readonly algorithms: readonly Algorithm[];
  /** Accepted types, in lower case without `application/`. `undefined` accepts a token without a type. */
  readonly types: readonly (string | undefined)[];
}

/**
 * The reason why a token is refused. The message may be shown: it tells nothing that the holder of the token does not
 * know.
 */
export class TokenFault extends Error {
  readonly kind: 'unverified' | 'expired' | 'audience' | 'lifetime' | 'outage';

  constructor(kind: TokenFault['kind'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'TokenFault';
    this.kind = kind;
  }
}

/**
 * Verifies the signature of a token with a key of its issuer. The header chooses among the accepted algorithms and keys
 * and adds nothing: a token that contains or refers to a key, or requires an extension, is refused.
 *
 * @throws {TokenFault} `unverified`, or `outage` when the keys are unavailable
 * @see RFC 8725, sections 3.1 to 3.12
 */
export async function requireSignature(jwt: Jwt, keys: KeySource, rules: HeaderRules): Promise<void> {
  const { algorithm, keyId } = checkedHeader(jwt, rules);
  const key = await find(keys, algorithm, keyId);
  if (key === undefined) throw new TokenFault('unverified', 'Its issuer publishes no key for its alg and kid.');
  if (!(await verifiesSignature(jwt, key, algorithm))) {
    throw new TokenFault('unverified', 'Its signature is invalid.');
  }
}

/** Returns the type of a token in the form in which types are compared. @see RFC 7515, section 4.1.9 */
export function typeOf({ header }: Jwt): string | undefined | null {
  const { typ } = header;
  if (typ === undefined) return undefined;
  return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : null;
}

function checkedHeader(
  jwt: Jwt,
  { algorithms, types }: HeaderRules,
): { algorithm: Algorithm; keyId: string | undefined } {
  const { alg, kid } = jwt.header;
  if (!isAlgorithm(alg) || !algorithms.includes(alg)) {
    throw new TokenFault('unverified', `Its alg must be one of ${algorithms.join(', ')}.`);
  }
  if (!types.some((type) => type === typeOf(jwt))) {
    throw new TokenFault('unverified', 'This host does not accept its type (typ).');
  }
  const foreign = FOREIGN.find((name) => Object.hasOwn(jwt.header, name));
  if (foreign !== undefined) throw new TokenFault('unverified', `Its header must not contain ${foreign}.`);
  if (kid !== undefined && !(typeof kid === 'string' && KEY_ID.test(kid))) {
    throw new TokenFault('unverified', 'Its key id (kid) must be 1 to 256 printable ASCII characters.');
  }
  return { algorithm: alg, keyId: kid };
}

const FOREIGN = ['crit', 'b64', 'zip', 'cty', 'jwk', 'jku', 'x5u', 'x5c', 'enc'];
const KEY_ID = /^[\x20-\x7e]{1,256}$/;

async function find(keys: KeySource, algorithm: Algorithm, keyId: string | undefined) {
  try {
    return await keys.find({ algorithm, keyId });
  } catch (cause) {
    throw new TokenFault('outage', 'The keys of its issuer are unavailable at the moment.', cause);
  }
}
