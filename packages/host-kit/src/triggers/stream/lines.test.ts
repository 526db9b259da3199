import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineReader } from './lines.ts';

/** Splits a text at the places, so that chunks begin and end anywhere. */
function chunksOf(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...places, bytes.length].map((end, index) => bytes.subarray(places[index - 1] ?? 0, end));
}

function read(
  text: string,
  { endsAtCr = true, maxBytes = 100, cuts = [] as readonly number[] } = {},
): readonly string[] {
  const lines = new LineReader({ maxBytes, endsAtCr });
  return chunksOf(Buffer.from(text), cuts).flatMap((chunk) =>
    [...lines.read(chunk)].map(({ bytes, isTooLong }) => Buffer.from(bytes).toString() + (isTooLong ? '…' : '')),
  );
}

test.each<[string, string, readonly string[]]>([
  ['LF', 'a\nb\n', ['a', 'b']],
  ['CR', 'a\rb\r', ['a', 'b']],
  ['CRLF', 'a\r\nb\r\n', ['a', 'b']],
  ['a mixture', 'a\r\rb\n\nc\r\n\n\rd\n', ['a', '', 'b', '', 'c', '', '', 'd']],
  ['no end', 'a\nb', ['a']],
  ['a byte order mark at the beginning alone', '\ufeffa\n\ufeffb\n', ['a', '\ufeffb']],
  ['two byte order marks', '\ufeff\ufeffa\n', ['\ufeffa']],
])('lines that end with %s', (_what, text, expected) => expect(read(text)).toEqual(expected));

test('CR is a part of a line of JSON', () => expect(read('a\rb\r\n', { endsAtCr: false })).toEqual(['a\rb\r']));

test('a line that is too long is cut, and the next one is whole', () =>
  expect(read(`${'x'.repeat(9)}\nabcd\nabcde\n`, { maxBytes: 4 })).toEqual(['xxxx…', 'abcd', 'abcd…']));

test('the lines do not depend on the boundaries of chunks', () => {
  const piece = fc.constantFrom('a', 'é', '\u{1f600}', '\n', '\r', '\r\n', '\ufeff', ' ', 'data:');
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }),
      fc.array(fc.nat(200), { maxLength: 12 }),
      fc.boolean(),
      (pieces, cuts, endsAtCr) => {
        const text = pieces.join('');
        expect(read(text, { cuts, endsAtCr, maxBytes: 7 })).toEqual(read(text, { endsAtCr, maxBytes: 7 }));
      },
    ),
  );
});
