import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { checkedSecret, prepareSecret, secretFingerprint, secretList } from './secret.ts';

describe('a secret', () => {
  test('is the key as text, also when it is hexadecimal', () => {
    for (const secret of ['a secret', 'ключ', '00ff'.repeat(16)]) {
      const expected = createHmac('sha256', secret).update('1.').update('{}').digest('hex');
      expect(prepareSecret(secret)('1.', '{}')).toBe(expected);
    }
  });

  test('is told from others by 8 digits of its hash', () => {
    expect(secretFingerprint('abc')).toBe('ba7816bf');
    expect(secretFingerprint('ключ')).toBe(createHash('sha256').update('ключ').digest('hex').slice(0, 8));
  });

  test.each(['a', 'a b', 'a\tb', 'ключ', '.'])('may be %j', (secret) => {
    expect(checkedSecret(secret)).toBe(secret);
  });

  test.each([
    ['nothing', '', /^secret: must be a non-empty string/],
    ['undefined', undefined, /^secret: must be a non-empty string/],
    ['null', null, /^secret: must be a non-empty string/],
    ['bytes', Uint8Array.of(1), /^secret: must be a non-empty string/],
    ['a list', ['a'], /^secret: must be a non-empty string/],
    ['a line break behind it', 'hidden\n', /^secret: has white space around it/],
    ['a space before it', ' hidden', /^secret: has white space around it/],
    ['white space alone', ' ', /^secret: has white space around it/],
  ])('is not %s, and is not told by the error', (_name, secret, problem) => {
    expect(() => checkedSecret(secret)).toThrow(TypeError);
    expect(() => checkedSecret(secret)).toThrow(problem);
    expect(() => checkedSecret(secret)).not.toThrow(/hidden/);
  });

  test('that is prepared is checked', () => {
    expect(() => prepareSecret('a\n')).toThrow(/white space/);
    expect(() => prepareSecret('')).toThrow(/non-empty/);
  });
});

describe('secrets', () => {
  test('are one, or several while a rotation overlaps', () => {
    expect(secretList('a')).toEqual(['a']);
    expect(secretList(['a', 'b'])).toEqual(['a', 'b']);
  });

  test.each([[[]], [undefined], [null], [7], [{}], [new Set(['a'])]])('are not %o', (secrets) => {
    expect(() => secretList(JSON.parse(JSON.stringify(secrets ?? null)))).toThrow(
      /^secret: must be a string or a non-empty/,
    );
  });
});
