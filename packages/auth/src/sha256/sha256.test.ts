import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256 as node } from './node.ts';
import { sha256 as portable } from './portable.ts';

describe.each([
  ['node', node],
  ['portable', portable],
])('%s', (_name, sha256) => {
  // FIPS 180-4 examples, and the lengths around the block of 64 bytes.
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('%j', (text, digest) => expect(sha256(text)).toBe(digest));

  test('agrees with an independent SHA-256 for any ASCII text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 512 }), (text) => {
        expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
      }),
    );
  });
});
