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

describe('a challenge', () => {
  const refused = { status: 401, rejected: true, scopes: [] };
  const dpop = { error: 'invalid_dpop_proof', algorithms: ['ES256', 'EdDSA'] } as const;

  test('names the metadata of the resource', () => {
    const resourceMetadata = 'https://svc.example.com/.well-known/oauth-protected-resource';
    expect(challenge({ ...refused, resourceMetadata })).toEqual({
      'www-authenticate': `Bearer resource_metadata="${resourceMetadata}", error="invalid_token"`,
    });
    expect(challenge({ ...refused, rejected: false, resourceMetadata })).toEqual({
      'www-authenticate': `Bearer resource_metadata="${resourceMetadata}"`,
    });
  });

  test('of a proof names its error and algorithms, and does not call the token invalid', () => {
    expect(challenge({ ...refused, dpop })).toEqual({
      'www-authenticate': 'Bearer, DPoP error="invalid_dpop_proof", algs="ES256 EdDSA"',
    });
  });

  test('brings the nonce for the next proof', () => {
    expect(challenge({ ...refused, dpop: { ...dpop, error: 'use_dpop_nonce', nonce: 'n1' } })).toEqual({
      'www-authenticate': 'Bearer, DPoP error="use_dpop_nonce", algs="ES256 EdDSA"',
      'dpop-nonce': 'n1',
    });
  });

  test('of a sign-in has the scheme of the token and the parameters alone', () => {
    const stepUp = { scheme: 'DPoP', parameters: ['error="insufficient_user_authentication"', 'max_age="5"'] } as const;
    expect(challenge({ ...refused, dpop, stepUp, resourceMetadata: 'https://svc.example.com/r' })).toEqual({
      'www-authenticate':
        'DPoP resource_metadata="https://svc.example.com/r", error="insufficient_user_authentication", max_age="5"',
    });
  });

  test('omits all scopes when one of them has other characters', () => {
    expect(challenge({ status: 403, rejected: false, scopes: ['runs:read', 'a"b'] })).toEqual({
      'www-authenticate': 'Bearer error="insufficient_scope"',
    });
  });

  test('is not sent with another status', () => {
    expect(challenge({ status: 503, rejected: false, scopes: [], retryAfterSeconds: 0 })).toEqual({
      'retry-after': '0',
    });
  });
});
