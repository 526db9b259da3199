import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import { TokenFault } from '../jwt/signature.ts';
import type { TokenIssuer } from './issuer.ts';

/**
 * Asks whether the account of a token is open. A failed lookup refuses the request: the account may be closed.
 *
 * @throws {AuthError} `key_revoked` for a closed account
 * @throws {TokenFault} `outage` when the lookup fails or is late
 */
export async function requireOpenAccount(isDisabled: TokenIssuer['isDisabled'], subject: string): Promise<void> {
  if (isDisabled === undefined) return;
  let answer: unknown;
  try {
    answer = await withinTime('The account lookup', ACCOUNT_TIMEOUT_MS, isDisabled(subject));
  } catch (cause) {
    throw new TokenFault('outage', 'The account lookup failed.', { cause, reason: 'directory' });
  }
  if (answer === false) return;
  const message = 'The account of the token is closed. Ask the operator of the host to reopen it.';
  throw new AuthError('key_revoked', message, undefined);
}

const ACCOUNT_TIMEOUT_MS = 5000;
