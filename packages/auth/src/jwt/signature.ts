import type { CryptoKey } from 'jose';
import type { RefusalReason } from '../refusal-reason.ts';
import { type Algorithm, isAlgorithm } from './algorithms.ts';
import type { Jwt } from './jwt.ts';
import type { KeySource, WantedKey } from './key-set.ts';
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
  /** The class of the cause, for logs and metrics. Default: by the kind. */
  readonly reason: RefusalReason;

  constructor(
    kind: TokenFault['kind'],
    message: string,
    { cause, reason = REASONS[kind] }: { readonly cause?: unknown; readonly reason?: RefusalReason } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'TokenFault';
    this.kind = kind;
    this.reason = reason;
  }
}

const REASONS = {
  unverified: 'claims',
  expired: 'expired',
  audience: 'audience',
  lifetime: 'lifetime',
  outage: 'issuer',
} as const;

/** The key that verified a signature, and the query that found it. */
export interface FoundKey {
  readonly key: CryptoKey;
  readonly wanted: WantedKey;
}

/**
 * Verifies the signature of a token with a key of its issuer. The header chooses among the accepted algorithms and keys
 * and adds nothing: a token that contains or refers to a key, or requires an extension, is refused.
 *
 * @throws {TokenFault} `unverified`, or `outage` when the keys are unavailable
 * @see RFC 8725, sections 3.1 to 3.12
 */
export async function requireSignature(jwt: Jwt, keys: KeySource, rules: HeaderRules): Promise<FoundKey> {
  const wanted = checkedHeader(jwt, rules);
  const key = await keyFor(keys, wanted);
  if (key === undefined) {
    const message = 'Its issuer publishes no key for its alg and kid.';
    throw new TokenFault('unverified', message, { reason: 'signing-key' });
  }
  if (!(await verifiesSignature(jwt, key, wanted.algorithm))) {
    throw new TokenFault('unverified', 'Its signature is invalid.', { reason: 'signature' });
  }
  return { key, wanted };
}

/**
 * Finds a key. It waits only where the source does.
 *
 * @throws {TokenFault} `outage` when the keys are unavailable
 */
export function keyFor(keys: KeySource, wanted: WantedKey): ReturnType<KeySource['find']> {
  try {
    const found = keys.find(wanted);
    return found !== undefined && 'then' in found ? Promise.resolve(found).catch(unavailable) : found;
  } catch (cause) {
    return unavailable(cause);
  }
}

function unavailable(cause: unknown): never {
  throw new TokenFault('outage', 'The keys of its issuer are unavailable at the moment.', { cause });
}

/** Returns the type of a token in the form in which types are compared. @see RFC 7515, section 4.1.9 */
export function typeOf({ header }: Pick<Jwt, 'header'>): string | undefined | null {
  const { typ } = header;
  if (typ === undefined) return undefined;
  return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : null;
}

/**
 * Checks the header of a token, and returns its algorithm and key id.
 *
 * @throws {TokenFault} `unverified`
 */
export function checkedHeader(jwt: Jwt, { algorithms, types }: HeaderRules): WantedKey {
  const { alg, kid } = jwt.header;
  if (!isAlgorithm(alg) || !algorithms.includes(alg)) {
    throw headerFault(`Its alg must be one of ${algorithms.join(', ')}.`);
  }
  if (!types.some((type) => type === typeOf(jwt))) {
    throw headerFault('This host does not accept its type (typ).');
  }
  const foreign = FOREIGN.find((name) => Object.hasOwn(jwt.header, name));
  if (foreign !== undefined) throw headerFault(`Its header must not contain ${foreign}.`);
  if (kid !== undefined && !(typeof kid === 'string' && KEY_ID.test(kid))) {
    throw headerFault('Its key id (kid) must be 1 to 256 printable ASCII characters.');
  }
  return { algorithm: alg, keyId: kid };
}

function headerFault(message: string): TokenFault {
  return new TokenFault('unverified', message, { reason: 'token-type' });
}

const FOREIGN = ['crit', 'b64', 'zip', 'cty', 'jwk', 'jku', 'x5u', 'x5c', 'enc'];
const KEY_ID = /^[\x20-\x7e]{1,256}$/;
