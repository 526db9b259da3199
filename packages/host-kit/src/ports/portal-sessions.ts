import type { Subject, Tenancy } from '@svc/auth';
import type { Transaction } from './transaction.ts';

/** The actions that a portal session may be granted. `view` reads, and every session has it. */
export const PORTAL_ACTIONS = ['view', 'redrive', 'edit', 'pause', 'test', 'rotate'] as const;

/** An action of a portal session. */
export type PortalAction = (typeof PORTAL_ACTIONS)[number];

/** The look of the portal page: each member is one of a closed set, so that no style of a stranger reaches the page. */
export interface PortalTheme {
  /** `auto` follows the browser. */
  readonly scheme: (typeof PORTAL_SCHEMES)[number];
  /** The colour of links and buttons. */
  readonly accent: (typeof PORTAL_ACCENTS)[number];
  /** The corners of cards and buttons. */
  readonly corners: (typeof PORTAL_CORNERS)[number];
}

/** The colour schemes of the portal page. */
export const PORTAL_SCHEMES = ['auto', 'light', 'dark'] as const;
/** The colours of its links and buttons. */
export const PORTAL_ACCENTS = ['blue', 'teal', 'green', 'violet', 'rose', 'slate'] as const;
/** The corners of its cards and buttons. */
export const PORTAL_CORNERS = ['round', 'slight', 'square'] as const;

/**
 * The permission of a customer to see and repair webhooks of a tenant on the portal page. Times are in ms since the
 * epoch. Digests are SHA-256 in lower-case hexadecimal: neither the code nor the token is stored.
 */
export interface PortalSession {
  readonly sessionId: string;
  /** Its tenant and mode, and the workspaces that it reaches. */
  readonly tenancy: Tenancy;
  /** The stored names of the event types that it reaches. */
  readonly eventTypes: 'all' | readonly string[];
  readonly actions: readonly PortalAction[];
  /** The one origin that may embed the page. Undefined: none may. */
  readonly origin: string | undefined;
  readonly theme: PortalTheme;
  /** The caller that created it, for which it acts. */
  readonly creator: { readonly principal: string; readonly credential: string; readonly subject: Subject };
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly codeDigest: string;
  readonly codeExpiresAt: number;
  /** Undefined until the code is exchanged. */
  readonly tokenDigest: string | undefined;
  readonly exchangedAt: number | undefined;
  readonly revokedAt: number | undefined;
}

/** The number of leading characters of a digest by which a store finds it. The caller compares the others. */
export const DIGEST_INDEXED = 16;

/** The sessions of the portal. */
export interface PortalSessionStore {
  /** Adds a session. */
  insert(session: PortalSession, transaction: Transaction): Promise<void>;
  /**
   * Counts the sessions of a tenant and mode that have neither expired at `now` nor been revoked. Until the transaction
   * ends, no other one that counts the same goes on.
   */
  countOpen(owner: Pick<Tenancy, 'tenant' | 'mode'>, now: number, transaction: Transaction): Promise<number>;
  /** Returns the session, if it reaches no workspace beyond those of the tenancy. */
  find(tenancy: Tenancy, sessionId: string): Promise<PortalSession | undefined>;
  /** Returns up to `limit` sessions that `find` returns, newest first, below the id `before`. */
  list(
    tenancy: Tenancy,
    page: { readonly before: string | undefined; readonly limit: number },
  ): Promise<readonly PortalSession[]>;
  /**
   * Returns the sessions whose digest of this kind begins with the same `DIGEST_INDEXED` characters. The caller compares
   * the whole digests, in a time that does not depend on their content.
   */
  candidates(kind: 'code' | 'token', digest: string): Promise<readonly PortalSession[]>;
  /**
   * Stores the digest of the token of a session whose code was not exchanged and that was not revoked.
   *
   * @returns false when the code was exchanged before, or the session is revoked or gone; nothing has changed then
   */
  exchange(
    sessionId: string,
    exchanged: { readonly tokenDigest: string; readonly at: number },
    transaction: Transaction,
  ): Promise<boolean>;
  /** Revokes a session. Returns false when it was revoked before, or is gone. */
  revoke(sessionId: string, at: number, transaction: Transaction): Promise<boolean>;
  /** Deletes up to `limit` sessions that expired before a time, and returns how many. */
  sweep(before: number, limit: number): Promise<number>;
}
