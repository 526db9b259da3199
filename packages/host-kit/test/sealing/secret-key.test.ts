import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { secretKeyBytes } from '../../src/sealing/secret-key.ts';

test('a key is read from its bytes, and from each text of them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const buffer = Buffer.from(bytes);
      const hex = buffer.toString('hex');
      const texts = [hex, hex.toUpperCase(), buffer.toString('base64'), buffer.toString('base64url')];
      for (const key of [bytes, ...texts]) expect([...secretKeyBytes('secretKey', key)]).toEqual([...bytes]);
    }),
  );
});

test('a text is read as the bytes that it is the text of, or is refused', () => {
  const character = fc.constantFrom(...'ABab019+/_-= \n');
  fc.assert(
    fc.property(fc.array(character, { minLength: 40, maxLength: 66 }), (characters) => {
      const text = characters.join('');
      let bytes: Uint8Array;
      try {
        bytes = secretKeyBytes('secretKey', text);
      } catch {
        return;
      }
      const read = Buffer.from(bytes);
      const forms = [read.toString('hex'), read.toString('base64'), read.toString('base64').replace('=', '')];
      const isHex = text.length === 64;
      expect([...forms]).toContain(isHex ? text.toLowerCase() : text.replaceAll('-', '+').replaceAll('_', '/'));
    }),
    { numRuns: 2000 },
  );
});

const key = randomBytes(32);
test.each<[string, string]>([
  ['a text that is empty', ''],
  ['31 bytes in hexadecimal', key.subarray(1).toString('hex')],
  ['33 bytes in base64', Buffer.concat([key, key.subarray(0, 1)]).toString('base64')],
  ['a digit too many', `${key.toString('hex')}0`],
  ['a line feed at the end', `${key.toString('hex')}\n`],
  ['bits that no byte has', `${'A'.repeat(42)}B=`],
  ['undefined as a text', 'undefined'],
])('%s is refused, and not quoted', (_, text) => {
  const read = () => secretKeyBytes('secretKey', text);
  expect(read).toThrow(
    new TypeError(
      `secretKey: must be 64 hexadecimal digits, or 44 characters of base64, not another text of ${text.length} characters. Make one with \`openssl rand -hex 32\`.`,
    ),
  );
});
