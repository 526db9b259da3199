import { DEFAULT_ALGORITHMS } from '../jwt/algorithms.ts';
import { audiencesOf } from '../jwt/claims.ts';
import { objectClaim, readJwt, textClaim } from '../jwt/jwt.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { requireSignature } from '../jwt/signature.ts';
import type { JsonObject } from '../jwt/strict-json.ts';

/** Reads answers that the issuer signs. */
export interface SignedAnswers {
  /** @throws {Error} for an answer that is not signed by the issuer for this host, now */
  membersOf(bytes: Uint8Array): Promise<JsonObject | undefined>;
}

/**
 * Makes the reader of signed answers. An answer that is not signed is no answer.
 *
 * @param readers names of this host at the issuer, one of which must be in `aud`
 * @see RFC 9701, section 5
 */
export function signedAnswers(
  issuer: string,
  keys: KeySource,
  { readers, now }: { readonly readers: readonly string[]; readonly now: () => number },
): SignedAnswers {
  return {
    async membersOf(bytes) {
      const jwt = readJwt(ASCII.decode(bytes).trim(), MAX_LENGTH);
      if (jwt === undefined) throw new Error('The answer must be a signed JWT.');
      await requireSignature(jwt, keys, { algorithms: DEFAULT_ALGORITHMS, types: ['token-introspection+jwt'] });
      if (textClaim(jwt.claims, 'iss') !== issuer) throw new Error('The answer is of another issuer (iss).');
      if (!audiencesOf(jwt.claims).some((audience) => readers.includes(audience)))
        throw new Error('The answer is for another reader (aud).');
      const { iat } = jwt.claims;
      if (!(typeof iat === 'number' && Math.abs(now() / 1000 - iat) <= FRESH_SECONDS))
        throw new Error('The answer is not of this time (iat). Compare the clocks.');
      return objectClaim(jwt.claims, 'token_introspection');
    },
  };
}

const ASCII = new TextDecoder();
const MAX_LENGTH = 64 * 1024;
const FRESH_SECONDS = 60;
