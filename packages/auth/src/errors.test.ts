import { describe, expect, test } from 'vitest';
import { AuthError } from './errors.ts';

describe('AuthError', () => {
  test.each([
    ['unauthenticated', 401],
    ['key_expired', 401],
    ['key_revoked', 401],
    ['forbidden', 403],
    ['run_forbidden', 403],
  ] as const)('%s has the status %i', (code, status) => {
    expect(new AuthError(code, 'No.', undefined)).toMatchObject({
      code,
      status,
      details: undefined,
      name: 'AuthError',
    });
  });

  test('recognises errors of another copy of the package, and no other value', () => {
    const copy = Object.defineProperty(new Error('No.'), Symbol.for('@svc/auth.error'), { value: true });
    expect(AuthError.is(copy)).toBe(true);
    expect(AuthError.is(new AuthError('forbidden', 'No.', undefined))).toBe(true);
    for (const value of [new Error('No.'), { code: 'forbidden' }, null, undefined, 'forbidden']) {
      expect(AuthError.is(value)).toBe(false);
    }
  });

  test('leaves its brand and its cause out of JSON', () => {
    const error = new AuthError('unauthenticated', 'No.', undefined, { cause: new Error('inside') });
    expect(error.cause).toBeInstanceOf(Error);
    expect(JSON.stringify(error)).not.toContain('inside');
    expect(Object.keys(error)).not.toContain('cause');
  });
});
