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
  readonly limit: number;
  readonly current: number;
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

/**
 * Why a caller was refused. `details` may go to the caller; `cause` holds what the host's logs may see, never a credential.
 *
 * @see Interface: Errors
 */
export class AuthError<Code extends AuthErrorCode = AuthErrorCode> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly details: DetailsByCode[Code];
  /** Whether a credential was presented at all, which a challenge may say. */
  readonly presented: boolean;

  constructor(code: Code, message: string, details: DetailsByCode[Code], options: AuthErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AuthError';
    this.code = code;
    this.status = STATUS[code];
    this.details = details;
    this.presented = options.presented ?? true;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Recognises the class across bundled copies, where `instanceof` does not. */
  static is(value: unknown): value is AuthError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

export interface AuthErrorOptions {
  readonly presented?: boolean;
  readonly cause?: unknown;
}

const BRAND = Symbol.for('@svc/auth.error');
