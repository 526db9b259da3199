import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDeeperThan } from '../../src/http/json-depth.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** Follows the definition of depth literally. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Strings that look like JSON, with all kinds of escapes. */
const text = fc.oneof(
  fc.string({
    unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ':', ',', 'a', ' ', '\n', 'é', '\u{1f600}', '\u005b'),
  }),
  fc.string({ unit: 'binary' }),
);
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    text,
    fc.constantFrom(null, true, 0, -1.5e9),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
}));
/** Wraps a value as in `[[{"a": … }]]`, so that deep values are generated, too. */
const nested = fc
  .tuple(json, fc.array(fc.constantFrom('array', 'object', 'beside'), { maxLength: 80 }))
  .map(([inner, wraps]) =>
    wraps.reduce<unknown>((value, wrap) => {
      if (wrap === 'array') return [value];
      return wrap === 'object' ? { ']}"': value } : ['[', value, {}];
    }, inner),
  );

/** Writes JSON in other styles: with white space, or with unnecessary escapes. */
function written(value: unknown, style: 'tight' | 'wide' | 'escaped'): string {
  if (style === 'wide') return JSON.stringify(value, null, 3);
  const tight = JSON.stringify(value);
  return style === 'tight'
    ? tight
    : tight.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

describe('the depth of JSON', () => {
  test.each([
    ['1', 0],
    ['""', 0],
    ['[]', 1],
    ['{}', 1],
    ['[[],[],{}]', 2],
    ['{"a":{"b":[1]}}', 3],
    ['["[[[["]', 1],
    ['["\\"[[[["]', 1],
    ['["\\\\",[[]]]', 3],
    ['["\\\\\\"[",[]]', 2],
    ['{"{\\"":"}"}', 1],
    ['["\\u0022[["]', 1],
    [' [\n [ ] ] ', 2],
    ['\ufeff[]', 1],
  ])('of %j is %i', (source, depth) => {
    expect(isDeeperThan(depth, bytes(source))).toBe(false);
    if (depth > 0) expect(isDeeperThan(depth - 1, bytes(source))).toBe(true);
  });

  test('matches its definition for any JSON in any style', () => {
    const style = fc.constantFrom('tight', 'wide', 'escaped');
    fc.assert(
      fc.property(nested, style, fc.integer({ min: -2, max: 2 }), (value, written_, off) => {
        const depth = depthOf(value);
        const levels = Math.max(0, depth + off);
        expect(isDeeperThan(levels, bytes(written(value, written_)))).toBe(depth > levels);
      }),
      { numRuns: 2000 },
    );
  });

  test('is decided for arbitrary bytes and for 1 MiB of open brackets', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (any) => {
        expect(typeof isDeeperThan(3, any)).toBe('boolean');
      }),
    );
    expect(isDeeperThan(64, bytes('['.repeat(1_048_576)))).toBe(true);
    expect(isDeeperThan(64, bytes('{"a":'.repeat(200_000)))).toBe(true);
  });
});
