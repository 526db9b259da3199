import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64url as node } from './node.ts';
import { decodeBase64url as portable } from './portable.ts';

test('returns the encoded bytes in both builds', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64url');
      expect([...node(text)]).toEqual([...bytes]);
      expect([...portable(text)]).toEqual([...bytes]);
    }),
  );
});
