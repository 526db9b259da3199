import { AuthError, type Lane, type Principal } from '@svc/auth';
import type { InterruptTokens, TokenClaims } from './token.ts';

/**
 * The lane of requests whose path ends in a token: the token is the credential, and whatever else the request carries counts for
 * nothing.
 */
export function tokenLane(tokens: InterruptTokens): Lane {
  return {
    name: 'interrupt-token',
    authenticate({ url = '' }) {
      const claims = tokens.verify(tokenIn(url));
      if (claims !== undefined) return { kind: 'authenticated', principal: holderOf(claims) };
      const message = 'The token is none of this host. Ask for a new one.';
      return { kind: 'refused', error: new AuthError('unauthenticated', message, undefined) };
    },
  };
}

/** Whoever holds a token: the approver that it names, in the run's tenant, and with no scope at all. */
export function holderOf({ tenant, mode, interruptId, approver }: TokenClaims): Principal {
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

/** The last segment of the path. A token needs no encoding. */
export function tokenIn(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return path.slice(path.lastIndexOf('/') + 1);
}
