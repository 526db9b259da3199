import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { presentedCredential } from './credential.ts';

const ofHeader = (...authorization: string[]) =>
  presentedCredential({ headers: {}, headersDistinct: { authorization } });

describe(covers('auth.api-key.bearer-header'), () => {
  test.each([
    ['Bearer abc', 'bearer', 'abc'],
    ['bearer abc', 'bearer', 'abc'],
    ['BEARER abc', 'bearer', 'abc'],
    ['Bearer a-b._~+/0==', 'bearer', 'a-b._~+/0=='],
    ['DPoP eyJ.eyJ.sig', 'dpop', 'eyJ.eyJ.sig'],
    ['Basic dXNlcjpwYXNz', 'basic', 'dXNlcjpwYXNz'],
    [`Bearer ${'a'.repeat(8192 - 7)}`, 'bearer', 'a'.repeat(8192 - 7)],
  ])('reads %s as one credential', (header, scheme, token) => {
    expect(ofHeader(header)).toEqual({ kind: 'one', credential: { scheme, token } });
  });
});

describe(covers('auth.api-key.missing-or-malformed-401'), () => {
  test('returns none for a request without the header', () => {
    expect(presentedCredential({ headers: new Headers() })).toEqual({ kind: 'none' });
  });

  test.each([
    ['an empty value', ''],
    ['a scheme alone', 'Bearer'],
    ['a scheme and a space', 'Bearer '],
    ['a token alone', 'abcdefgh'],
    ['two spaces', 'Bearer  abc'],
    ['a tab', 'Bearer\tabc'],
    ['a no-break space', 'Bearer\u00a0abc'],
    ['a space before', ' Bearer abc'],
    ['a space behind', 'Bearer abc '],
    ['a newline behind', 'Bearer abc\n'],
    ['something behind', 'Bearer abc def'],
    ['a quoted token', 'Bearer "abc"'],
    ['padding in the middle', 'Bearer ab=c'],
    ['padding alone', 'Bearer =='],
    ['a Latin-1 character', 'Bearer ab\u00e9c'],
    ['a character that lower-cases to ASCII', 'Bearer ab\u212ac'],
    ['a scheme that lower-cases to ASCII', '\u212aerberos abc'],
    ['a NUL', 'Bearer ab\0c'],
    ['parameters', 'Digest username="a", nonce="b"'],
    ['more than any credential', `Bearer ${'a'.repeat(8192 - 6)}`],
  ])('reports %s as malformed', (_case, header) => {
    expect(ofHeader(header)).toMatchObject({ kind: 'malformed', error: { code: 'unauthenticated', status: 401 } });
  });
});

describe(covers('auth.api-key.doubled-header-401'), () => {
  test('reports two headers as malformed, even equal ones', () => {
    expect(ofHeader('Bearer abc', 'Bearer abc')).toMatchObject({ kind: 'malformed' });
  });

  test.each(['Bearer abc, Bearer abc', 'Bearer abc,Bearer def', 'Bearer abc,', ', Bearer abc'])(
    'two headers joined by the platform are malformed: %s',
    (joined) => expect(ofHeader(joined)).toMatchObject({ kind: 'malformed' }),
  );

  test('reports two headers that Web Headers joined as malformed', () => {
    const headers = new Headers();
    headers.append('authorization', 'Bearer abc');
    headers.append('authorization', 'Bearer def');
    expect(presentedCredential({ headers })).toMatchObject({ kind: 'malformed' });
  });
});

describe('any header', () => {
  const nearHeaders = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .tuple(fc.constantFrom('Bearer', 'bearer', 'B'), fc.constantFrom(' ', '  ', '\t', ','), fc.string())
      .map((parts) => parts.join('')),
  );

  test('is read without throwing, and a returned token is the text after the first space', () => {
    fc.assert(
      fc.property(nearHeaders, (header) => {
        const presented = ofHeader(header);
        if (presented.kind !== 'one') return;
        const { scheme, token } = presented.credential;
        expect(header.toLowerCase()).toBe(`${scheme} ${token.toLowerCase()}`);
        expect(header.endsWith(` ${token}`)).toBe(true);
        expect(token).toMatch(/^[\x21-\x7e]+$/);
      }),
    );
  });

  test('does not occur in the error', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8 }), (secret) => {
        const presented = ofHeader(`Bearer  ${secret}`);
        expect(presented.kind).toBe('malformed');
        if (presented.kind === 'malformed') expect(presented.error.message).not.toContain(secret);
      }),
    );
  });
});
