import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareVersions, majorOf, parseSelector, parseVersion } from './version.ts';

const MALFORMED = [
  '',
  '.',
  '1.',
  '.1',
  '01.1',
  '1.01',
  '1.1.1',
  '1.1 ',
  ' 1.1',
  '1.1\n',
  'v1.1',
  '1.x',
  '-1.1',
  '1,1',
  '1.-1',
  '+1.1',
  '1e1.1',
];

describe('parseVersion', () => {
  test.each(['0.0', '1.1', '1.10', '10.2', '2.0', '123456789012345678901234567890.9'])('parses %s', (text) => {
    const [major, minor] = text.split('.');
    expect(parseVersion(text)).toEqual({ major, minor });
  });

  test.each([...MALFORMED, '1', '10'])('%j is none', (text) => {
    expect(parseVersion(text)).toBeUndefined();
  });
});

describe('parseSelector', () => {
  test.each([
    ['0', '0'],
    ['1', '1'],
    ['10', '10'],
    ['1.0', '1'],
    ['1.5', '1'],
    ['1.10', '1'],
    ['1.100', '1'],
    ['10.20', '10'],
  ])('the major of %s is %s', (text, major) => {
    expect(parseSelector(text)).toBe(major);
  });

  test.each([...MALFORMED, '01', '1 ', ' 1', '1\n'])('%j has none', (text) => {
    expect(parseSelector(text)).toBeUndefined();
  });
});

test.each([
  ['1', 1],
  ['2', 2],
  ['0', undefined],
  ['3', undefined],
  ['11', undefined],
  ['', undefined],
  [undefined, undefined],
] as const)('the digits %j are of the major %s', (digits, major) => {
  expect(majorOf(digits)).toBe(major);
});

test('versions compare as numbers of any length', () => {
  const number = fc.oneof(fc.bigInt({ min: 0n, max: 120n }), fc.bigInt({ min: 0n, max: 10n ** 30n }));
  fc.assert(
    fc.property(number, number, number, number, (a, b, c, d) => {
      const order = compareVersions({ major: `${a}`, minor: `${b}` }, { major: `${c}`, minor: `${d}` });
      const expected = a === c ? b - d : a - c;
      expect(Math.sign(order)).toBe(expected === 0n ? 0 : expected < 0n ? -1 : 1);
    }),
  );
});
