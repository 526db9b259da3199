import type { Authenticator } from './authenticate.ts';
import { authorize, type ScopeRules } from './authorize.ts';
import type { AuthError } from './errors.ts';
import { type OptionNames, requireKnown } from './known-options.ts';
import type { Principal } from './principal.ts';
import { rateLimitHeaders } from './rate-limit/headers.ts';
import type { RateLimiter } from './rate-limit/limiter.ts';
import { type Refusal, refusal } from './refusal.ts';
import type { RequestHead } from './request-head.ts';

/** Options of `guard` and of every adapter. */
export interface GuardOptions extends ScopeRules {
  /** Authenticates the caller. */
  readonly authenticator: Authenticator;
  /** Counts requests by credential. Default: no limit. */
  readonly limiter?: RateLimiter;
  /**
   * The scope that the operation needs, or several that are all needed. Default: every authenticated caller is
   * admitted.
   */
  readonly scope?: string | readonly string[];
  /** Writes a refusal in the host's own envelope. Default `refusal`. */
  readonly refuse?: (error: AuthError) => Refusal;
}

/** The names of {@link GuardOptions}. */
export const GUARD_OPTIONS: OptionNames<GuardOptions> = {
  authenticator: true,
  limiter: true,
  scope: true,
  refuse: true,
  implied: true,
};

/** The verdict of a guard on one request. */
export type Admittance =
  | {
      /** True when the caller is admitted. */
      readonly admitted: true;
      /** The caller. */
      readonly principal: Principal;
      /** To be set on the response. */
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      /** False when the caller is refused. */
      readonly admitted: false;
      /** The response to send. */
      readonly refusal: Refusal;
    };

/**
 * Makes a guard. It authenticates a request, counts it, and checks the scope, in that order. The handler still has to
 * look up the resource within `principal.tenancy`.
 *
 * @throws {TypeError} when an option is unknown; on a request, when `scope` is an empty list
 * @example
 * const admitted = guard({ authenticator: auth, limiter, scope: 'runs:read' });
 * const verdict = await admitted(request);
 * @see Interface: Authorization rules, item 6
 */
export function guard(options: GuardOptions): (request: RequestHead) => Promise<Admittance> {
  requireKnown('guard', options, GUARD_OPTIONS);
  return admittance(options);
}

/** Makes a guard whose options are checked for unknown names already, as an adapter may have more options than this. */
export function admittance(options: GuardOptions): (request: RequestHead) => Promise<Admittance> {
  const { authenticator, limiter, scope, refuse = refusal } = options;
  return async (request) => {
    const outcome = await authenticator.authenticate(request);
    if (outcome.kind === 'refused') return refusedWith(outcome.error);
    const { principal } = outcome;
    const rate = await limiter?.consume(principal.credentialId);
    const headers = { ...outcome.headers, ...(rate && rateLimitHeaders(rate)) };
    if (rate?.allowed === false) return refusedWith(rate.error, headers);
    const decision = scope === undefined ? ANYONE : authorize(principal, scope, options);
    return decision.allowed ? { admitted: true, principal, headers } : refusedWith(decision.error, headers);
  };

  /** Sends the headers of the error and of the outcome even when the host writes the refusal in its own envelope. */
  function refusedWith(error: AuthError, headers: Readonly<Record<string, string>> = {}): Admittance {
    const written = refuse(error);
    const own = Object.entries(written.headers).map(([name, value]) => [name.toLowerCase(), value]);
    return {
      admitted: false,
      refusal: { ...written, headers: { ...error.headers, ...Object.fromEntries(own), ...headers } },
    };
  }
}

const ANYONE = { allowed: true } as const;
