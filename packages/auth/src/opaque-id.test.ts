import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOpaqueId } from './opaque-id.ts';

describe('isOpaqueId', () => {
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
