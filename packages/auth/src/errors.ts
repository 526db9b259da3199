import { challenge, type DpopChallenge } from './challenge.ts';

interface DetailsByCode {
  unauthenticated: undefined;
  key_expired: undefined;
  key_revoked: undefined;
  audience_mismatch: undefined;
  credential_lifetime_exceeded: undefined;
  identity_unverified: undefined;
  identity_unresolvable: undefined;
  sender_constraint_missing: undefined;
  delegation_expired: undefined;
  delegation_chain_too_long: undefined;
  delegation_chain_cyclic: undefined;
  delegation_scope_amplified: undefined;
  forbidden: { readonly scopeRequired: string } | undefined;
  run_forbidden: undefined;
  rate_limited: RateLimited;
  service_unavailable: undefined;
}

/** @see Interface: Errors, `rate_limited` */
export interface RateLimited {
  /** Length of the window in seconds. */
  readonly window: number;
  /** Requests that a window allows. */
  readonly limit: number;
  /** Requests that count against the limit now. */
  readonly current: number;
  /** Whole seconds after which one more request is allowed. */
  readonly retryAfterSeconds: number;
}

export type AuthErrorCode = keyof DetailsByCode;

const STATUS = {
  unauthenticated: 401,
  key_expired: 401,
  key_revoked: 401,
  audience_mismatch: 401,
  credential_lifetime_exceeded: 401,
  identity_unverified: 401,
  identity_unresolvable: 401,
  sender_constraint_missing: 401,
  delegation_expired: 401,
  delegation_chain_too_long: 400,
  delegation_chain_cyclic: 400,
  delegation_scope_amplified: 403,
  forbidden: 403,
  run_forbidden: 403,
  rate_limited: 429,
  service_unavailable: 503,
} as const satisfies Record<AuthErrorCode, number>;

/** Every code of this package with its HTTP status. @see Interface: Errors */
export const AUTH_ERROR_STATUS: Readonly<Record<AuthErrorCode, number>> = STATUS;

export interface AuthErrorOptions {
  /** For the host's logs only; never a credential. */
  readonly cause?: unknown;
  /** False when no credential was found wanting: none was presented, or none could be judged. Default true. */
  readonly rejected?: boolean;
  /** Every scope that the operation needs, for the challenge. Default: the one of the details. */
  readonly scopes?: readonly string[];
  /** What a DPoP client must do better. */
  readonly dpop?: DpopChallenge;
  /** Where RFC 9728 metadata tells a client how to get a token. */
  readonly resourceMetadata?: string | undefined;
  /** Whole seconds, for a refusal that time may mend. */
  readonly retryAfterSeconds?: number;
}

/**
 * Why a caller was refused. `message`, `details` and `headers` may go to the caller; `cause` is for the host's logs.
 *
 * @example
 * if (AuthError.is(error)) return new Response(error.message, { status: error.status, headers: error.headers });
 * @see Interface: Errors
 */
export class AuthError<Code extends AuthErrorCode = AuthErrorCode> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly details: DetailsByCode[Code];
  /** Whether a credential was presented and found wanting, which the challenge of a 401 tells. */
  readonly rejected: boolean;
  /** What the operation needs, when that is what was missing. */
  readonly scopes: readonly string[];
  readonly dpop: DpopChallenge | undefined;
  readonly resourceMetadata: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: Code, message: string, details: DetailsByCode[Code], options: AuthErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AuthError';
    this.code = code;
    this.status = STATUS[code];
    this.details = details;
    this.rejected = options.rejected ?? true;
    this.scopes = options.scopes ?? scopesOf(details);
    this.dpop = options.dpop;
    this.resourceMetadata = options.resourceMetadata;
    this.retryAfterSeconds = options.retryAfterSeconds ?? retryAfterOf(details);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** What goes with the answer. @see challenge */
  get headers(): Readonly<Record<string, string>> {
    return challenge(this);
  }

  /** Recognises the class across bundled copies, where `instanceof` does not. */
  static is(value: unknown): value is AuthError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

const BRAND = Symbol.for('@svc/auth.error');

function scopesOf(details: DetailsByCode[AuthErrorCode]): readonly string[] {
  return details !== undefined && 'scopeRequired' in details ? [details.scopeRequired] : [];
}

function retryAfterOf(details: DetailsByCode[AuthErrorCode]): number | undefined {
  return details !== undefined && 'retryAfterSeconds' in details ? details.retryAfterSeconds : undefined;
}
