import type { Authenticator } from './authenticate.ts';
import { authorize, type ScopeRules } from './authorize.ts';
import type { AuthError } from './errors.ts';
import type { Principal } from './principal.ts';
import { rateLimitHeaders } from './rate-limit/headers.ts';
import type { RateLimiter } from './rate-limit/limiter.ts';
import { type Refusal, refusal } from './refusal.ts';
import type { RequestHead } from './request-head.ts';

/** What stands before an operation. */
export interface GuardOptions extends ScopeRules {
  readonly authenticator: Authenticator;
  /** Counts requests by credential. Default: they are not limited. */
  readonly limiter?: RateLimiter;
  /** What the operation needs: one scope or several. Default: any authenticated caller may. */
  readonly scope?: string | readonly string[];
  /** Writes a refusal in the host's own envelope. Default `refusal`. */
  readonly refuse?: (error: AuthError) => Refusal;
}

export type Admittance =
  | {
      readonly admitted: true;
      readonly principal: Principal;
      /** To be set on the response. */
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly admitted: false; readonly refusal: Refusal };

/**
 * Authenticates a request, counts it, and asks for the scope, in that order. What the operation acts on is still to be looked up
 * within `principal.tenancy`.
 *
 * @example
 * const admitted = guard({ authenticator: auth, limiter, scope: 'runs:read' });
 * const verdict = await admitted(request);
 * @see Interface: Authorization rules, item 6
 */
export function guard(options: GuardOptions): (request: RequestHead) => Promise<Admittance> {
  const { authenticator, limiter, scope, refuse = refusal } = options;
  return async (request) => {
    const outcome = await authenticator.authenticate(request);
    if (outcome.kind === 'refused') return { admitted: false, refusal: refuse(outcome.error) };
    const { principal } = outcome;
    const rate = await limiter?.consume(principal.credentialId);
    if (rate?.allowed === false) {
      const refused = refuse(rate.error);
      return { admitted: false, refusal: { ...refused, headers: { ...refused.headers, ...rateLimitHeaders(rate) } } };
    }
    const decision = scope === undefined ? ANYONE : authorize(principal, scope, options);
    if (!decision.allowed) return { admitted: false, refusal: refuse(decision.error) };
    return { admitted: true, principal, headers: { ...outcome.headers, ...(rate && rateLimitHeaders(rate)) } };
  };
}

const ANYONE = { allowed: true } as const;
