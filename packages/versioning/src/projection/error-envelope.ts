import type { Major } from '../version.ts';

/** An error with a code, as `VersioningError` is. */
export interface Failure {
  /** The error code of the interface. */
  readonly code: string;
  /** A sentence for the caller. */
  readonly message: string;
  /** Facts for the caller. Default: none. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The JSON body of a failed request. It is a type, because an interface is not assignable to a record of JSON values.
 */
export type ErrorEnvelope = {
  /** The error code. */
  readonly error: string;
  /** A sentence for the caller. */
  readonly message: string;
  /** The missing scope in major 1; major 2 has it under `details`. */
  readonly scopeRequired?: unknown;
  /** Facts about the error; absent when there are none. */
  readonly details?: Readonly<Record<string, unknown>>;
};

/**
 * Converts an error to the body of a failed request, by major.
 *
 * @example
 * import { errorEnvelope } from '@svc/versioning/projection';
 *
 * const body = errorEnvelope[2]({ code: 'not_found', message: 'There is no such run.' });
 * Response.json(body, { status: 404 });
 * @see Interface: Error envelope; Errors
 */
export const errorEnvelope: Readonly<Record<Major, (failure: Failure) => ErrorEnvelope>> = {
  1: ({ code, message, details = {} }) => {
    const { scopeRequired, ...others } = details;
    return envelope(code, message, others, scopeRequired === undefined ? {} : { scopeRequired });
  },
  2: ({ code, message, details = {} }) => {
    // In major 2 only the Retry-After header says when to retry.
    const { retryAfter: _1, retryAfterMs: _2, retryAfterSeconds: _3, ...others } = details;
    return envelope(code, message, others, {});
  },
};

function envelope(
  error: string,
  message: string,
  details: Readonly<Record<string, unknown>>,
  extra: { readonly scopeRequired?: unknown },
): ErrorEnvelope {
  return { error, message, ...extra, ...(Object.keys(details).length > 0 && { details }) };
}
