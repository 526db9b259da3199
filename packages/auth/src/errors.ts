import { challenge, type DpopChallenge, type StepUpChallenge } from './challenge.ts';
import type { RefusalReason } from './refusal-reason.ts';

/** The details of each code of an `AuthError`. @see Interface: Errors */
export interface AuthErrorDetails {
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

/** Details of `rate_limited`. @see Interface: Errors, `rate_limited` */
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

/** The closed set of error codes of this package. */
export type AuthErrorCode = keyof AuthErrorDetails;

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

/** The class of the cause of an error that names none. */
const USUAL_REASON: Readonly<Record<AuthErrorCode, RefusalReason>> = {
  unauthenticated: 'unknown',
  key_expired: 'expired',
  key_revoked: 'revoked',
  audience_mismatch: 'audience',
  credential_lifetime_exceeded: 'lifetime',
  identity_unverified: 'identity',
  identity_unresolvable: 'unbound',
  sender_constraint_missing: 'sender',
  delegation_expired: 'delegation',
  delegation_chain_too_long: 'delegation',
  delegation_chain_cyclic: 'delegation',
  delegation_scope_amplified: 'delegation',
  forbidden: 'scope',
  run_forbidden: 'scope',
  rate_limited: 'rate-limit',
  service_unavailable: 'internal',
};

/** Every code of this package with its HTTP status. @see Interface: Errors */
export const AUTH_ERROR_STATUS: Readonly<Record<AuthErrorCode, number>> = STATUS;

/** Options of the constructor of `AuthError`. */
export interface AuthErrorOptions {
  /** For the logs of the host only. It must not contain a credential. */
  readonly cause?: unknown;
  /** False when no credential was presented, or none could be judged. Default true. */
  readonly rejected?: boolean;
  /** Every scope that the operation needs, for the challenge. Default: `details.scopeRequired`. */
  readonly scopes?: readonly string[];
  /** The DPoP part of the challenge. Default: none. */
  readonly dpop?: DpopChallenge;
  /** The authentication that the operation needs and the caller lacks. Default: none. */
  readonly stepUp?: StepUpChallenge | undefined;
  /** URL of the RFC 9728 metadata, which tells a client where to get a token. Default: none. */
  readonly resourceMetadata?: string | undefined;
  /** Whole seconds to wait, when waiting helps. Default: `details.retryAfterSeconds`. */
  readonly retryAfterSeconds?: number;
  /** See `AuthError.fault`. Default: `host` for the code `service_unavailable`, else `caller`. */
  readonly fault?: 'caller' | 'host';
  /** The class of the cause, for logs and metrics. Default: by the code. */
  readonly reason?: RefusalReason;
}

/**
 * The refusal of a caller. `message`, `details` and `headers` may be sent to the caller; `cause` is for the logs of the
 * host.
 *
 * @example
 * if (AuthError.is(error)) return new Response(error.message, { status: error.status, headers: error.headers });
 * @see Interface: Errors
 */
export class AuthError<Code extends AuthErrorCode = AuthErrorCode> extends Error {
  /** The error code. */
  readonly code: Code;
  /** The HTTP status of the code. */
  readonly status: number;
  /** Details that some codes have. */
  readonly details: AuthErrorDetails[Code];
  /** Whether a credential was presented and found invalid. The challenge of a 401 says so. */
  readonly rejected: boolean;
  /** Scopes that the operation needs; empty when no scope was missing. */
  readonly scopes: readonly string[];
  /** The DPoP part of the challenge, if any. */
  readonly dpop: DpopChallenge | undefined;
  /** The authentication that the operation needs and the caller lacks, if any. */
  readonly stepUp: StepUpChallenge | undefined;
  /** URL of the RFC 9728 metadata, if any. */
  readonly resourceMetadata: string | undefined;
  /** Whole seconds to wait, when waiting helps. */
  readonly retryAfterSeconds: number | undefined;
  /**
   * `host` when the host could not judge the credential: a store, a resolver or an issuer failed, or a stored record is
   * malformed. `cause` tells the operator more, and the refusal counts against no limit.
   */
  readonly fault: 'caller' | 'host';
  /** The class of the cause, for logs and metrics. It is not sent to the caller. */
  readonly reason: RefusalReason;

  /**
   * Makes a refusal.
   *
   * @param message a sentence for the caller
   * @param details required for codes that have details
   */
  constructor(code: Code, message: string, details: AuthErrorDetails[Code], options: AuthErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AuthError';
    this.code = code;
    this.status = STATUS[code];
    this.details = details;
    this.rejected = options.rejected ?? true;
    this.scopes = options.scopes ?? scopesOf(details);
    this.dpop = options.dpop;
    this.stepUp = options.stepUp;
    this.resourceMetadata = options.resourceMetadata;
    this.retryAfterSeconds = options.retryAfterSeconds ?? retryAfterOf(details);
    this.fault = options.fault ?? (code === 'service_unavailable' ? 'host' : 'caller');
    this.reason = options.reason ?? USUAL_REASON[code];
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** The headers of the response. @see challenge */
  get headers(): Readonly<Record<string, string>> {
    return challenge(this);
  }

  /** Returns whether a value is an `AuthError`, also of another bundled copy, where `instanceof` fails. */
  static is(value: unknown): value is AuthError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

const BRAND = Symbol.for('@svc/auth.error');

function scopesOf(details: AuthErrorDetails[AuthErrorCode]): readonly string[] {
  return details !== undefined && 'scopeRequired' in details ? [details.scopeRequired] : [];
}

function retryAfterOf(details: AuthErrorDetails[AuthErrorCode]): number | undefined {
  return details !== undefined && 'retryAfterSeconds' in details ? details.retryAfterSeconds : undefined;
}
