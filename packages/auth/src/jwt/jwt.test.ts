import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isBase64url, objectClaim, readJwt, textClaim } from './jwt.ts';

const encoded = (value: string | object) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const HEADER = encoded({ alg: 'ES256' });
const CLAIMS = encoded({ sub: 'u_1' });

describe('readJwt', () => {
  test('reads the header and the claims', () => {
    const token = `${HEADER}.${CLAIMS}.c2ln`;
    expect(readJwt(token)).toEqual({ token, header: { alg: 'ES256' }, claims: { sub: 'u_1' } });
    expect(readJwt(`${HEADER}.${CLAIMS}.`), 'an empty signature is for the verification to refuse').toBeDefined();
  });

  test.each(['{"a":1}', '{ "a":1}', '{\t"a":1}', '{\n"a":1}', '{\r"a":1}'])(
    'the header may begin with %j',
    (header) => {
      expect(readJwt(`${encoded(header)}.${CLAIMS}.c2ln`)?.header).toEqual({ a: 1 });
    },
  );

  test('reads 8192 characters and no more, or as many as it is told', () => {
    const start = `${HEADER}.${CLAIMS}.`;
    const ofLength = (length: number) => start + 'A'.repeat(length - start.length);
    const longest = [8192, 8188].map(ofLength).find((token) => isBase64url(token.slice(start.length))) ?? '';
    expect(longest.length).toBeGreaterThan(8180);
    expect(readJwt(longest)).toBeDefined();
    expect(readJwt(longest, longest.length)).toBeDefined();
    expect(readJwt(longest, longest.length - 1)).toBeUndefined();
    expect(readJwt(`${longest}AAAAAAAAAAAAAAAA`)).toBeUndefined();
  });

  test.each([
    ['nothing', ''],
    ['one part', HEADER],
    ['two parts', `${HEADER}.${CLAIMS}`],
    ['four parts', `${HEADER}.${CLAIMS}.c2ln.`],
    ['five parts', `${HEADER}.${CLAIMS}.c2ln.c2ln.c2ln`],
    ['a header that is a list', `${encoded('[1]')}.${CLAIMS}.c2ln`],
    ['a header behind white space', `${encoded(' {"a":1}')}.${CLAIMS}.c2ln`],
    ['a header that is no JSON', `${encoded('{"a"}')}.${CLAIMS}.c2ln`],
    ['a header behind another character', `A${HEADER}.${CLAIMS}.c2ln`],
    ['claims that are a list', `${HEADER}.${encoded('[]')}.c2ln`],
    ['claims that are no JSON', `${HEADER}.${encoded('{a}')}.c2ln`],
    ['a padded header', `${encoded('{"a":1}')}==.${CLAIMS}.c2ln`],
    ['padded claims', `${HEADER}.${encoded('{"ab":1}')}=.c2ln`],
    ['a padded signature', `${HEADER}.${CLAIMS}.AA==`],
    ['claims whose unused bits are set', `${HEADER}.${encoded('{"a":1}').slice(0, -1)}R.c2ln`],
    ['a signature whose unused bits are set', `${HEADER}.${CLAIMS}.AB`],
    ['a line break at its end', `${HEADER}.${CLAIMS}.c2ln\n`],
  ])('refuses %s', (_name, token) => {
    expect(readJwt(token)).toBeUndefined();
  });
});

describe('isBase64url', () => {
  test('accepts the one encoding of any bytes, and no other text of the alphabet', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{0,9}$/), (text) => {
        expect(isBase64url(text)).toBe(Buffer.from(text, 'base64url').toString('base64url') === text);
      }),
      { numRuns: 2000 },
    );
    fc.assert(fc.property(fc.uint8Array(), (bytes) => isBase64url(Buffer.from(bytes).toString('base64url'))));
  });

  test('knows which last characters have unused bits', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const last of alphabet) {
      for (const text of [`A${last}`, `AA${last}`, `AAAAA${last}`])
        expect(isBase64url(text), text).toBe(Buffer.from(text, 'base64url').toString('base64url') === text);
    }
  });

  test.each(['A', 'AAAAA', 'AA=', 'AA==', 'A A', '+/+/', 'AA\n', '\nAA', 'ÄÄ', 'AAA.'])('refuses %j', (text) => {
    expect(isBase64url(text)).toBe(false);
  });
});

describe('claims', () => {
  const claims = { text: 'a', empty: '', number: 1, list: ['a'], object: { a: 1 }, nothing: null };

  test('are texts', () => {
    const read = Object.keys(claims).map((name) => textClaim(claims, name));
    expect(read).toEqual(['a', '', undefined, undefined, undefined, undefined]);
  });

  test('are objects', () => {
    const read = Object.keys(claims).map((name) => objectClaim(claims, name));
    expect(read).toEqual([undefined, undefined, undefined, undefined, { a: 1 }, undefined]);
  });

  test('are own members', () => {
    const inherited = Object.create({ text: 'a', object: {} });
    expect(textClaim(inherited, 'text')).toBeUndefined();
    expect(objectClaim(inherited, 'object')).toBeUndefined();
    for (const name of Object.getOwnPropertyNames(Object.prototype)) {
      expect(textClaim({}, name)).toBeUndefined();
      expect(objectClaim({}, name)).toBeUndefined();
    }
  });
});
