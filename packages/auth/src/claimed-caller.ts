import { type Jwt, textClaim } from './jwt/jwt.ts';

/** The caller that a credential names before it is verified. Any client can claim to be any caller. */
export interface ClaimedCaller {
  /**
   * Returns a text that only this credential has, e.g. the thumbprint of a client certificate. Default: the header
   * `Authorization`.
   */
  readonly credential?: () => string;
  /**
   * Returns a text that all credentials of the caller have, e.g. its issuer and its subject. Undefined when the credential
   * cannot be valid: it has expired, or is for another audience.
   */
  readonly caller: () => string | undefined;
}

/**
 * Returns the caller that a token claims to be.
 *
 * @param require checks everything about the token that costs no signature. It throws when the token cannot be valid.
 */
export function claimedIn({ claims }: Pick<Jwt, 'claims'>, require: () => void): ClaimedCaller {
  return {
    caller() {
      try {
        require();
      } catch {
        return undefined;
      }
      return JSON.stringify(['iss', 'sub', 'client_id'].map((name) => textClaim(claims, name) ?? null));
    },
  };
}
