import { describe, expect, test } from 'vitest';
import { AuthError } from '../errors.ts';
import { rateLimitHeaders } from './headers.ts';

describe('rateLimitHeaders', () => {
  test('names the policy and the remaining requests', () => {
    expect(rateLimitHeaders({ allowed: true, limit: 600, remaining: 599, resetSeconds: 1, windowSeconds: 60 })).toEqual(
      {
        ratelimit: '"default";r=599;t=1',
        'ratelimit-policy': '"default";q=600;w=60',
      },
    );
  });

  test('omits a window that the limiter does not announce', () => {
    const decision = { allowed: true, limit: 600, remaining: 599, resetSeconds: 1 } as const;
    expect(rateLimitHeaders(decision)['ratelimit-policy']).toBe('"default";q=600');
  });

  test('sends Retry-After with a refusal', () => {
    const details = { window: 60, limit: 10, current: 10, retryAfterSeconds: 6 };
    expect(rateLimitHeaders({ allowed: false, error: new AuthError('rate_limited', 'No.', details) })).toEqual({
      ratelimit: '"default";r=0;t=6',
      'ratelimit-policy': '"default";q=10;w=60',
      'retry-after': '6',
    });
  });
});
