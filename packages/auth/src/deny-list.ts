import { withinTime } from './deadline.ts';
import { AuthError } from './errors.ts';
import { outage } from './outage.ts';
import type { Principal, TokenFacts } from './principal.ts';

/**
 * Knows the credentials that were withdrawn before their end: tokens by `jti`, sessions by `sid`, and disabled people. Pass
 * it to `authenticator`, which asks it about each credential that a lane has accepted, also when the lane answers from a
 * cache.
 *
 * @example
 * const denyList: DenyList = { isDenied: ({ principals }) => principals.some((id) => closedAccounts.has(id)) };
 * const auth = authenticator({ lanes, denyList });
 */
export interface DenyList {
  /**
   * Returns true for a withdrawn credential. A failure, or an answer after 5 s, refuses the request as an outage. A list
   * in memory answers without a promise.
   */
  isDenied(credential: CredentialFacts): boolean | Promise<boolean>;
}

/** The facts by which a valid credential can be withdrawn. */
export interface CredentialFacts {
  /** Id of the tenant that the credential reaches. */
  readonly tenant: string;
  /** The data that the credential reaches. */
  readonly mode: 'live' | 'test';
  /** Opaque ids of the principal and, with a delegation, of the workload that acts for it. */
  readonly principals: readonly string[];
  /** The tokens that proved the caller. Empty: an API key or a certificate did. */
  readonly tokens: readonly TokenFacts[];
}

/** A withdrawal of credentials. */
export type Withdrawal = WithdrawalBounds &
  (
    | {
        /** Every credential of a principal, of every lane. */
        readonly kind: 'principal';
        /** Opaque id of the principal. Ids are those of a tenant, so `tenant` is required. */
        readonly principal: string;
        /** Id of the tenant. */
        readonly tenant: string;
      }
    | {
        /** One token. */
        readonly kind: 'token';
        /** The exact `iss`. */
        readonly issuer: string;
        /** The exact `jti`. */
        readonly jti: string;
      }
    | {
        /** Every token of one session. */
        readonly kind: 'session';
        /** The exact `iss`. */
        readonly issuer: string;
        /** The exact `sid`. */
        readonly sid: string;
      }
    | {
        /** Every token of a subject that was issued before a time, such as at a logout without `sid`. */
        readonly kind: 'subject';
        /** The exact `iss`. */
        readonly issuer: string;
        /** The exact `sub`, as the issuer writes it. */
        readonly subject: string;
        /** Milliseconds since the epoch. A token without `iat` counts as issued before. */
        readonly issuedBefore: number;
      }
  );

/** The reach of a withdrawal. */
export interface WithdrawalBounds {
  /** Credentials of this tenant alone. Default: of every tenant. */
  readonly tenant?: string | undefined;
  /** Credentials of this mode alone. Default: of both. */
  readonly mode?: 'live' | 'test' | undefined;
  /**
   * Milliseconds since the epoch. The withdrawal ends then: give the latest expiry of the credentials. Default: never.
   */
  readonly until?: number | undefined;
}

/** Adds withdrawals to a deny list, such as from the back-channel logout of an issuer. */
export interface DenyListWriter {
  /**
   * Withdraws credentials. Resolves when the withdrawal is stored and no host of the store accepts them any more. Safe to
   * repeat.
   */
  deny(withdrawal: Withdrawal): Promise<void>;
}

/**
 * Returns whether a withdrawal holds for a credential at a time.
 *
 * @param now milliseconds since the epoch
 * @example
 * const isDenied = withdrawals.some((each) => isWithdrawn(credential, each, Date.now()));
 */
export function isWithdrawn(credential: CredentialFacts, withdrawal: Withdrawal, now: number): boolean {
  const { tenant, mode, until } = withdrawal;
  if (tenant !== undefined && tenant !== credential.tenant) return false;
  if (mode !== undefined && mode !== credential.mode) return false;
  // Negated, so that a clock that returns NaN refuses.
  if (until !== undefined && now >= until) return false;
  if (withdrawal.kind === 'principal') return credential.principals.includes(withdrawal.principal);
  return credential.tokens.some((token) => isNamed(token, withdrawal));
}

function isNamed(token: TokenFacts, named: Exclude<Withdrawal, { readonly kind: 'principal' }>): boolean {
  if (token.issuer !== named.issuer) return false;
  switch (named.kind) {
    case 'token':
      return token.jti === named.jti;
    case 'session':
      return token.sid === named.sid;
    case 'subject':
      return token.subject === named.subject && !((token.issuedAt ?? 0) >= named.issuedBefore);
  }
}

/** Returns the facts by which a deny list judges a principal. */
function credentialFacts({ id, tenancy, tokens = NO_TOKENS, workload }: Principal): CredentialFacts {
  const actor = workload?.actor.principalId ?? id;
  return {
    tenant: tenancy.tenant,
    mode: tenancy.mode,
    principals: actor === id ? [id] : [id, actor],
    tokens,
  };
}

const NO_TOKENS: readonly TokenFacts[] = [];

/**
 * Requires that a credential was not withdrawn. Returns a promise only when the list does.
 *
 * @throws {AuthError} `key_revoked`; `service_unavailable` when the list fails or is late
 */
export function requireStanding(list: DenyList, principal: Principal): void | Promise<void> {
  let answer: boolean | Promise<boolean>;
  try {
    answer = list.isDenied(credentialFacts(principal));
  } catch (cause) {
    throw unjudged(cause);
  }
  if (answer === false) return undefined;
  if (answer === true) throw withdrawn();
  return decideLater(answer);
}

async function decideLater(pending: unknown): Promise<void> {
  let answer: unknown;
  try {
    answer = await withinTime('The deny list', TIMEOUT_MS, pending);
  } catch (cause) {
    throw unjudged(cause);
  }
  if (answer === false) return;
  throw answer === true ? withdrawn() : unjudged(new TypeError('denyList: isDenied must return true or false.'));
}

const TIMEOUT_MS = 5000;

function withdrawn(): AuthError {
  const message = 'The credential was withdrawn. Sign in again, or ask the operator of the host for another one.';
  return new AuthError('key_revoked', message, undefined);
}

function unjudged(cause: unknown): AuthError {
  return outage('The credential cannot be judged at the moment. Try again in a few seconds.', cause, 'directory');
}
