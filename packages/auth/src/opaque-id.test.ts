import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOpaqueId } from './opaque-id.ts';

describe('isOpaqueId', () => {
  test.each([
    ['the beginning of a token behind another character', 'xeyJhbGciOiJFUzI1NiJ9'],
    ['the first letters of a token', 'eyJhbGciOiJFU'.slice(0, 12)],
    ['the beginning of a certificate behind another character', `xMIIC${'A'.repeat(100)}`],
    ['the first letters of a certificate', `MIIC${'A'.repeat(58)}`],
    ['the beginning of a key behind another character', 'my_svc_live_0'],
    ['the prefix of another mode', 'svc_prod_0'],
  ])('%s is opaque', (_case, id) => {
    expect(isOpaqueId(id)).toBe(true);
  });

  test.each([
    ['the beginning of a token', 'eyJhbGciOiJFUz'],
    ['the beginning of a certificate', `MIIC${'A'.repeat(59)}`],
    ['a certificate of another length', `MIJC${'+'.repeat(59)}`],
    ['a PEM block behind another character', 'x-----BEGIN'],
    ['a key for tests', 'svc_test_0'],
  ])('rejects %s', (_case, id) => {
    expect(isOpaqueId(id)).toBe(false);
  });

  test.each(['p_7f3a', 'key.1', '0192f3c4-8d1e-7b6a', 'anon:9f', 'ключ', 'a', 'a'.repeat(256)])(
    '%s is opaque',
    (id) => {
      expect(isOpaqueId(id)).toBe(true);
    },
  );

  test.each([
    ['nothing', ''],
    ['an e-mail address', 'ada@example.com'],
    ['a display name', 'Ada Lovelace'],
    ['a display name with a no-break space', 'Ada\u00a0Lovelace'],
    ['a path', 'acme/p_1'],
    ['a new line', 'p_1\n'],
    ['a NUL', 'p\0'],
    ['a zero-width space', 'p\u200b1'],
    ['a right-to-left override', 'p\u202e1'],
    ['half a surrogate pair', 'p\ud800'],
    ['more than 256 characters', 'a'.repeat(257)],
    ['a JSON Web Token', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln'],
    ['a PEM block', '-----BEGIN'],
    ['a certificate in base64', `MIIC${'A'.repeat(100)}`],
    ['a key', `svc_live_${'0'.repeat(72)}`],
    ['a number', 7],
    ['null', null],
  ])('rejects %s', (_case, id) => {
    expect(isOpaqueId(id)).toBe(false);
  });

  test('judges any text without throwing, and accepts none with white space or @', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (id) => {
        if (isOpaqueId(id)) expect(id).toMatch(/^[^\s@/]+$/);
      }),
    );
  });
});
