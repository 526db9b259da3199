import { AuthError, type Lane, type Principal } from '@svc/auth';
import type { InterruptTokens, TokenClaims } from './token.ts';

/**
 * Makes the authentication lane of requests whose path ends in a token. The token is the only credential; other
 * credentials of the request are ignored.
 */
export function tokenLane(tokens: InterruptTokens): Lane {
  return {
    name: 'interrupt-token',
    authenticate({ url = '' }) {
      const claims = tokens.verify(tokenIn(url));
      if (claims !== undefined) return { kind: 'authenticated', principal: holderOf(claims) };
      const message = 'This host did not issue the token. Ask for a new one.';
      return { kind: 'refused', error: new AuthError('unauthenticated', message, undefined) };
    },
  };
}

/** Returns the principal of a token: the approver that it names, in the run's tenant, without scopes. */
function holderOf({ tenant, mode, interruptId, approver }: TokenClaims): Principal {
  return {
    id: approver.principal,
    kind: undefined,
    credentialId: interruptId,
    lane: 'interrupt-token',
    binding: 'bearer',
    tenancy: { tenant, workspaces: 'all', mode },
    scopes: [],
    subject: approver.subject,
  };
}

/** Returns the last segment of the path. A token contains no character that needs percent-encoding. */
function tokenIn(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return path.slice(path.lastIndexOf('/') + 1);
}
