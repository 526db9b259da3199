import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { challenge } from './challenge.ts';
import { AuthError } from './errors.ts';

describe(covers('auth.challenge.every-401'), () => {
  test.each(['unauthenticated', 'key_expired', 'key_revoked'] as const)(
    'names the scheme and the error for %s',
    (code) => {
      expect(challenge(new AuthError(code, 'No.', undefined))).toEqual({
        'www-authenticate': 'Bearer error="invalid_token"',
      });
    },
  );

  test('names no error when no credential was found invalid', () => {
    const error = new AuthError('unauthenticated', 'No.', undefined, { rejected: false });
    expect(challenge(error)).toEqual({ 'www-authenticate': 'Bearer' });
  });
});

describe(covers('auth.challenge.insufficient-scope'), () => {
  test('names the missing scope', () => {
    expect(challenge(new AuthError('forbidden', 'No.', { scopeRequired: 'runs:read' }))).toEqual({
      'www-authenticate': 'Bearer error="insufficient_scope", scope="runs:read"',
    });
  });

  test('names every scope that the operation needs', () => {
    const scopes = ['runs:read', 'artifacts:read'];
    const error = new AuthError('forbidden', 'No.', { scopeRequired: 'runs:read' }, { scopes });
    expect(challenge(error)['www-authenticate']).toBe(
      'Bearer error="insufficient_scope", scope="runs:read artifacts:read"',
    );
  });

  test.each(['a"b', 'a\\b', 'a\r\nset-cookie: x', 'a b', 'ü', ''])('omits the scope %j', (scope) => {
    expect(challenge(new AuthError('forbidden', 'No.', { scopeRequired: scope }))).toEqual({
      'www-authenticate': 'Bearer error="insufficient_scope"',
    });
  });

  test.each(['forbidden', 'run_forbidden'] as const)('sends no challenge for %s without a scope', (code) => {
    expect(challenge(new AuthError(code, 'No.', undefined))).toEqual({});
  });
});

describe(covers('errors.code.rate-limited'), () => {
  test('sends Retry-After in seconds with a 429', () => {
    const details = { window: 60, limit: 10, current: 10, retryAfterSeconds: 6 };
    const error = new AuthError('rate_limited', 'No.', details);
    expect(error.status).toBe(429);
    expect(error.headers).toEqual({ 'retry-after': '6' });
  });
});
