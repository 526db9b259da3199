import type { Major } from '../version.ts';

/** Any coded error. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** The body of a failed request; a type rather than an interface, so that it is a plain JSON record to the compiler too. */
export type ErrorEnvelope = {
  readonly error: string;
  readonly message: string;
  /** Major 1 names the missing scope here, major 2 under `details`. */
  readonly scopeRequired?: unknown;
  readonly details?: Readonly<Record<string, unknown>>;
};

/**
 * The body of a failed request, as a major words it.
 *
 * @example
 * Response.json(errorEnvelope[negotiation.major](error), { status: error.status });
 * @see Interface: Error envelope; Errors
 */
export const errorEnvelope: Readonly<Record<Major, (failure: Failure) => ErrorEnvelope>> = {
  1: ({ code, message, details = {} }) => {
    const { scopeRequired, ...others } = details;
    return envelope(code, message, others, scopeRequired === undefined ? {} : { scopeRequired });
  },
  2: ({ code, message, details = {} }) => {
    // Major 2 says when to try again in Retry-After alone.
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
