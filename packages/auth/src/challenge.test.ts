import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { challenge } from './challenge.ts';
import { AuthError } from './errors.ts';

describe(covers('auth.challenge.every-401'), () => {
  test.each(['unauthenticated', 'key_expired', 'key_revoked'] as const)('%s names the scheme and the error', (code) => {
    expect(challenge(new AuthError(code, 'No.', undefined))).toEqual({
      'www-authenticate': 'Bearer error="invalid_token"',
    });
  });

  test('no error is named when no credential was found wanting', () => {
    const error = new AuthError('unauthenticated', 'No.', undefined, { rejected: false });
    expect(challenge(error)).toEqual({ 'www-authenticate': 'Bearer' });
  });
});

describe(covers('auth.challenge.insufficient-scope'), () => {
  test('the missing scope is named', () => {
    expect(challenge(new AuthError('forbidden', 'No.', { scopeRequired: 'runs:read' }))).toEqual({
      'www-authenticate': 'Bearer error="insufficient_scope", scope="runs:read"',
    });
  });

  test('every scope that the operation needs is named', () => {
    const scopes = ['runs:read', 'artifacts:read'];
    const error = new AuthError('forbidden', 'No.', { scopeRequired: 'runs:read' }, { scopes });
    expect(challenge(error)['www-authenticate']).toBe(
      'Bearer error="insufficient_scope", scope="runs:read artifacts:read"',
    );
  });

  test.each(['a"b', 'a\\b', 'a\r\nset-cookie: x', 'a b', 'ü', ''])('%j does not get into the header', (scope) => {
    expect(challenge(new AuthError('forbidden', 'No.', { scopeRequired: scope }))).toEqual({
      'www-authenticate': 'Bearer error="insufficient_scope"',
    });
  });

  test.each(['forbidden', 'run_forbidden'] as const)('%s without a scope is no challenge', (code) => {
    expect(challenge(new AuthError(code, 'No.', undefined))).toEqual({});
  });
});

describe(covers('errors.code.rate-limited'), () => {
  test('a 429 says when to try again, in seconds', () => {
    const details = { window: 60, limit: 10, current: 10, retryAfterSeconds: 6 };
    const error = new AuthError('rate_limited', 'No.', details);
    expect(error.status).toBe(429);
    expect(error.headers).toEqual({ 'retry-after': '6' });
  });
});
