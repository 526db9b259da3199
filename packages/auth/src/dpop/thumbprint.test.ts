import { calculateJwkThumbprint } from 'jose';
import { describe, expect, test } from 'vitest';
import { publicKeyThumbprint } from './thumbprint.ts';

const EC = { kty: 'EC', crv: 'P-256', x: 'xA', y: 'yA' };
const OKP = { kty: 'OKP', crv: 'Ed25519', x: 'xA' };
const RSA = { kty: 'RSA', n: 'nA', e: 'AQAB' };

describe('publicKeyThumbprint', () => {
  test.each([EC, OKP, RSA])('is the hash of the required members: %o', async (jwk) => {
    const expected = await calculateJwkThumbprint(jwk);
    expect(publicKeyThumbprint(jwk)).toBe(expected);
    expect(publicKeyThumbprint({ use: 'sig', alg: 'x', kid: '1', ...jwk }), 'other members do not count').toBe(
      expected,
    );
  });

  test('agrees with the example of RFC 7638, section 3.1', () => {
    const n =
      '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3okn' +
      'jhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQv' +
      'RL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';
    expect(publicKeyThumbprint({ kty: 'RSA', n, e: 'AQAB', alg: 'RS256', kid: '2011-04-29' })).toBe(
      'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    );
  });

  test.each([undefined, null, '', 'ec', 'oct', ['EC'], 'toString', 'constructor', 'valueOf', 'hasOwnProperty'])(
    'a key of the type %o has none',
    (kty) => {
      expect(publicKeyThumbprint({ ...EC, kty })).toBeUndefined();
    },
  );

  test.each([
    ['a missing member', { ...EC, y: undefined }],
    ['an empty member', { ...EC, y: '' }],
    ['a member that is no text', { ...EC, x: 1 }],
    ['a member that is not base64url', { ...EC, x: 'x"A' }],
    ['a line break behind a member', { ...EC, x: 'xA\n' }],
    ['a quotation mark before a member', { ...EC, x: '"xA' }],
    ['a member of 2049 characters', { ...RSA, n: 'A'.repeat(2049) }],
  ])('a key with %s has none', (_name, jwk) => {
    expect(publicKeyThumbprint(jwk)).toBeUndefined();
  });

  test('a member has up to 2048 characters', () => {
    expect(publicKeyThumbprint({ ...RSA, n: 'A'.repeat(2048) })).toMatch(/^[\w-]{43}$/);
  });

  test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])('a key with the private member %s has none', (name) => {
    for (const jwk of [EC, OKP, RSA]) expect(publicKeyThumbprint({ ...jwk, [name]: 'AAAA' })).toBeUndefined();
  });

  test.each([
    ['EC', EC, ['n', 'e']],
    ['OKP', OKP, ['y', 'n', 'e']],
    ['RSA', RSA, ['crv', 'x', 'y']],
  ])('a key of the type %s with a member of another type has none', (_type, jwk, foreign) => {
    for (const name of foreign) {
      expect(publicKeyThumbprint({ ...jwk, [name]: 'AAAA' }), name).toBeUndefined();
      expect(publicKeyThumbprint({ ...jwk, [name]: null }), name).toBeUndefined();
    }
  });
});
