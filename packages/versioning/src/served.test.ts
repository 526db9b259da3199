import { describe, expect, test } from 'vitest';
import { type ServedOptions, served } from './served.ts';

describe('served', () => {
  test('tells the phase, and the highest version of each major', () => {
    const host = served({ versions: ['1.9', '1.10', '2.1', '1.2', '2.0'], preferred: '1.9', minClientVersion: '1.4' });
    expect(host).toMatchObject({
      versions: ['1.9', '1.10', '2.1', '1.2', '2.0'],
      preferred: '1.9',
      preferredMajor: 1,
      minClientVersion: '1.4',
      majors: new Set([1, 2]),
      overlap: true,
    });
    expect([host.contractOf(1), host.contractOf(2)]).toEqual(['1.10', '2.1']);
  });

  test.each([
    [['1.0', '1.1'], '1.1', 1, 2],
    [['2.1', '2.0'], '2.0', 2, 1],
  ] as const)('of one major, %j, has no overlap', (versions, preferred, major, absent) => {
    const host = served({ versions, preferred });
    expect(host).toMatchObject({ preferredMajor: major, overlap: false, minClientVersion: undefined });
    expect(host.majors).toEqual(new Set([major]));
    expect(host.contractOf(major)).toBe(`${major}.1`);
    expect(host.contractOf(absent), 'the preferred version for a major that is not served').toBe(preferred);
  });

  test('has versions of its own', () => {
    const versions = ['1.0'];
    const host = served({ versions, preferred: '1.0' });
    versions.push('2.0');
    expect(host.versions).toEqual(['1.0']);
    expect(host.versions).toSatisfy(Object.isFrozen);
  });

  test.each<[string, ServedOptions, RegExp]>([
    ['no version', { versions: [], preferred: '1.0' }, /^versions: is empty\. .* preferred: "1\.0" is not in versions/],
    ['a repeated version', { versions: ['1.0', '1.0'], preferred: '1.0' }, /^versions: repeats a version/],
    ['a malformed version', { versions: ['1.0', '1'], preferred: '1.0' }, /^versions: "1" is not of the form/],
    ['an unknown major', { versions: ['1.0', '3.0'], preferred: '1.0' }, /^versions: "3\.0" is of major 3/],
    ['a preferred version that is not listed', { versions: ['1.0'], preferred: '1.1' }, /^preferred: "1\.1" is not in/],
    [
      'a malformed client version',
      { versions: ['1.0'], preferred: '1.0', minClientVersion: '1' },
      /^minClientVersion: "1" is not of the form/,
    ],
    [
      'a preferred 2.x while it lists a 1.x',
      { versions: ['1.0', '2.0'], preferred: '2.0' },
      /^preferred: must be a 1\.x/,
    ],
  ])('refuses %s', (_name, options, problem) => {
    expect(() => served(options)).toThrow(TypeError);
    expect(() => served(options)).toThrow(problem);
  });

  test('refuses an option that it does not have', () => {
    const options = { versions: ['1.0'], preferred: '1.0', prefered: '1.0' };
    expect(() => served(options)).toThrow(/^served: unknown option prefered/);
  });

  test('names every problem at once', () => {
    const problems =
      /"x" is not of the form.*"9\.1" is of major 9.*repeats.*"1\.0" is not in versions.*minClientVersion/;
    expect(() => served({ versions: ['x', '9.1', '9.1'], preferred: '1.0', minClientVersion: '' })).toThrow(problems);
  });

  test('does not judge the preference of a list that has other problems', () => {
    expect(() => served({ versions: ['1.0', '2.0', '2.0'], preferred: '2.0' })).toThrow(/^versions: repeats [^:]*$/);
  });
});
