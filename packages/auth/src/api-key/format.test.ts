import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acceptsForeignKey, hashApiKey, mintApiKey } from './format.ts';

const random = (size: number) => new Uint8Array(randomBytes(size));
const counting = (size: number) => Uint8Array.from({ length: size }, (_, index) => index);

describe(covers('auth.api-key.prefix-tells-mode'), () => {
  test.each(['live', 'test'] as const)('a %s key begins with its mode', (mode) => {
    expect(mintApiKey({ mode, randomBytes: random }).key).toMatch(new RegExp(`^svc_${mode}_[0-9a-f]{72}$`));
  });

  test('rejects an unknown mode', () => {
    expect(() => mintApiKey({ mode: JSON.parse('"prod"'), randomBytes: random })).toThrow(TypeError);
  });
});

describe(covers('auth.api-key.entropy'), () => {
  test('makes a key of all 32 bytes of the source', () => {
    const asked: number[] = [];
    const { key } = mintApiKey({
      mode: 'live',
      randomBytes(size) {
        asked.push(size);
        return counting(size);
      },
    });
    expect(asked).toEqual([32]);
    expect(key).toContain('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f');
  });

  test.each([0, 16, 31, 33])('rejects a source that returns %i bytes', (size) => {
    expect(() => mintApiKey({ mode: 'live', randomBytes: () => new Uint8Array(size) })).toThrow(TypeError);
  });
});

describe(covers('auth.api-key.hashed-at-rest'), () => {
  test('returns the SHA-256 of the key for storage', () => {
    const { key, hash } = mintApiKey({ mode: 'live', randomBytes: random });
    expect(hash).toBe(createHash('sha256').update(key).digest('hex'));
    expect(hashApiKey(key)).toBe(hash);
  });
});

describe('the checksum', () => {
  test('a known key', () => {
    const { key, hash } = mintApiKey({ mode: 'test', randomBytes: counting });
    expect(key).toBe('svc_test_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fb20d72be');
    expect(hash).toBe('2cc05d61dc168fdf5cd1a97b7ecfe9557c1a97c329cf50d3b0eddd6246988c5c');
  });

  test('is the CRC-32 of everything before it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const { key } = mintApiKey({ mode: 'live', randomBytes: () => bytes });
        expect(Number.parseInt(key.slice(-8), 16)).toBe(crc32(key.slice(0, -8)));
      }),
    );
  });
});

describe(covers('auth.api-key.own-prefix-checked'), () => {
  const digit = fc.constantFrom(...'0123456789abcdef');

  test('rejects a minted key with one mistyped digit', () => {
    const { key } = mintApiKey({ mode: 'live', randomBytes: random });
    fc.assert(
      fc.property(fc.integer({ min: 9, max: key.length - 1 }), digit, (at, other) => {
        fc.pre(key[at] !== other);
        const mistyped = key.slice(0, at) + other + key.slice(at + 1);
        expect(acceptsForeignKey(mistyped)).toBe(false);
        expect(() => hashApiKey(mistyped)).toThrow(/checksum/);
      }),
    );
  });

  test('rejects a minted key with two neighbouring digits swapped', () => {
    const { key } = mintApiKey({ mode: 'live', randomBytes: counting });
    const swapped = key.replace('0102', '1002');
    expect(swapped).not.toBe(key);
    expect(acceptsForeignKey(swapped)).toBe(false);
  });

  test('rejects a live key with the prefix of a test key', () => {
    const { key } = mintApiKey({ mode: 'live', randomBytes: random });
    expect(acceptsForeignKey(key.replace('svc_live_', 'svc_test_'))).toBe(false);
  });
});

describe(covers('auth.api-key.prefix-not-prescribed'), () => {
  test.each([
    ['another prefix', `acme_${'k'.repeat(32)}`],
    ['no prefix', 'k'.repeat(32)],
    ['every kind of character', 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=='],
    ['the most that fits', 'k'.repeat(512)],
    ['our prefix, written by hand', 'svc_live_development-key-of-this-machine'],
    ['our prefix and fewer digits', `svc_live_${'a'.repeat(64)}`],
    ['our prefix and other letters', `svc_test_${'Z'.repeat(72)}`],
    ['our prefix of a mode that we do not mint', `svc_prod_${'0'.repeat(72)}`],
  ])('accepts %s', (_case, key) => {
    expect(acceptsForeignKey(key)).toBe(true);
    expect(hashApiKey(key)).toBe(createHash('sha256').update(key).digest('hex'));
  });

  test.each([
    ['31 characters', 'k'.repeat(31)],
    ['513 characters', 'k'.repeat(513)],
    ['nothing', ''],
    ['a space', `${'k'.repeat(32)} k`],
    ['a new line at the end', `${'k'.repeat(32)}\n`],
    ['a comma', `${'k'.repeat(32)},k`],
    ['padding in the middle', `${'k'.repeat(32)}=k`],
    ['a letter outside of ASCII', `${'k'.repeat(32)}\u00e9`],
    ['padding alone', '='.repeat(40)],
  ])('rejects %s, with an error that does not contain the key', (_case, key) => {
    expect(acceptsForeignKey(key)).toBe(false);
    expect(() => hashApiKey(key)).toThrow(/^hashApiKey: key must be 32 to 512 letters/);
  });
});

test('hashApiKey names a key that is undefined, as an environment variable may be', () => {
  const given = (key: unknown) => () => Reflect.apply(hashApiKey, undefined, [key]);
  expect(given(undefined)).toThrow(TypeError);
  expect(given(undefined)).toThrow('hashApiKey: key is undefined. Set its environment variable.');
  expect(given(new Uint8Array(32))).toThrow('hashApiKey: key must be a text. Pass the key that callers send.');
});
