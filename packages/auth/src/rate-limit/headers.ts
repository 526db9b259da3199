import type { RateDecision } from './limiter.ts';

/**
 * Makes the headers of a rate limit: `RateLimit` and `RateLimit-Policy`, and `Retry-After` when the limit is used up.
 *
 * @example
 * rateLimitHeaders(decision); // { ratelimit: '"default";r=599;t=1', 'ratelimit-policy': '"default";q=600;w=60' }
 * @see draft-ietf-httpapi-ratelimit-headers; RFC 9651; RFC 9110, section 10.2.3
 */
export function rateLimitHeaders(decision: RateDecision): Record<string, string> {
  if (decision.allowed) {
    const { limit, remaining, resetSeconds, windowSeconds } = decision;
    return fields(limit, windowSeconds, remaining, resetSeconds);
  }
  const { limit, window, retryAfterSeconds } = decision.error.details;
  return { ...fields(limit, window, 0, retryAfterSeconds), 'retry-after': String(retryAfterSeconds) };
}

function fields(limit: number, window: number | undefined, remaining: number, reset: number): Record<string, string> {
  const policy = window === undefined ? '' : `;w=${window}`;
  return {
    ratelimit: `"${POLICY}";r=${remaining};t=${reset}`,
    'ratelimit-policy': `"${POLICY}";q=${limit}${policy}`,
  };
}

const POLICY = 'default';
