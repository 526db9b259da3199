import { challenge } from './challenge.ts';

interface DetailsByCode {
  unauthenticated: undefined;
  key_expired: undefined;
  key_revoked: undefined;
  forbidden: { readonly scopeRequired: string } | undefined;
  run_forbidden: undefined;
  rate_limited: RateLimited;
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
  forbidden: 403,
  run_forbidden: 403,
  rate_limited: 429,
} as const satisfies Record<AuthErrorCode, number>;

export interface AuthErrorOptions {
  /** For the host's logs only; never a credential. */
  readonly cause?: unknown;
  /** False when no credential was found wanting: none was presented, or none could be judged. Default true. */
  readonly rejected?: boolean;
  /** Every scope that the operation needs, for the challenge. Default: the one of the details. */
  readonly scopes?: readonly string[];
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

  constructor(code: Code, message: string, details: DetailsByCode[Code], options: AuthErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AuthError';
    this.code = code;
    this.status = STATUS[code];
    this.details = details;
    this.rejected = options.rejected ?? true;
    this.scopes = options.scopes ?? scopesOf(details);
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
