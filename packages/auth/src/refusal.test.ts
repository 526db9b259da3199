import { describe, expect, test } from 'vitest';
import { AuthError } from './errors.ts';
import { refusal } from './refusal.ts';

describe('refusal', () => {
  test('writes a 401 as the flat envelope with its challenge', () => {
    const { status, headers, body } = refusal(new AuthError('key_expired', 'Expired.', undefined));
    expect({ status, headers, body: JSON.parse(body) }).toEqual({
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"', 'content-type': 'application/json' },
      body: { error: 'key_expired', message: 'Expired.' },
    });
  });

  test('names the missing scope of a 403 at the top level', () => {
    const { body } = refusal(new AuthError('forbidden', 'No.', { scopeRequired: 'runs:read' }));
    expect(JSON.parse(body)).toEqual({ error: 'forbidden', message: 'No.', scopeRequired: 'runs:read' });
  });

  test('writes the numbers of a 429 under details', () => {
    const details = { window: 60, limit: 10, current: 10, retryAfterSeconds: 6 };
    const { status, headers, body } = refusal(new AuthError('rate_limited', 'No.', details));
    expect({ status, retryAfter: headers['retry-after'], body: JSON.parse(body) }).toEqual({
      status: 429,
      retryAfter: '6',
      body: { error: 'rate_limited', message: 'No.', details },
    });
  });

  test('leaves the cause out', () => {
    const error = new AuthError('unauthenticated', 'No.', undefined, { cause: new Error('db at 10.0.0.7') });
    expect(JSON.stringify(refusal(error))).not.toContain('10.0.0.7');
  });
});
