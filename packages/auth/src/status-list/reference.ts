import { objectClaim, textClaim } from '../jwt/jwt.ts';
import { TokenFault } from '../jwt/signature.ts';
import type { JsonObject } from '../jwt/strict-json.ts';

/** The place of the status of a token. */
export interface StatusReference {
  /** URI of the list. */
  readonly uri: string;
  /** Index in the list. */
  readonly index: number;
}

/**
 * Returns the place of the status that a token names. Undefined for a token without the claim `status`.
 *
 * @throws {TokenFault} `unverified` for a claim that names no status in a list: it may mean that the token was revoked
 * @see draft-ietf-oauth-status-list, section 6.2
 */
export function statusReference(claims: JsonObject): StatusReference | undefined {
  if (!Object.hasOwn(claims, 'status')) return undefined;
  const list = objectClaim(objectClaim(claims, 'status') ?? {}, 'status_list') ?? {};
  const index = Object.hasOwn(list, 'idx') ? list.idx : undefined;
  const uri = textClaim(list, 'uri');
  if (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 && uri !== undefined && uri !== '')
    return { uri, index };
  throw new TokenFault('unverified', 'Its status must have the member status_list, with a whole number idx and a uri.');
}
