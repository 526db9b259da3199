import { describe, expect, test } from 'vitest';
import { type Retirement, stampRetirement } from './retirement.ts';

const deprecatedAt = new Date('2026-01-01T00:00:00.999Z');

function stamped(retirement: Retirement, headers = new Headers()): Record<string, string> {
  stampRetirement(headers, retirement);
  return Object.fromEntries(headers);
}

describe('stampRetirement', () => {
  test('announces a deprecation in whole seconds', () => {
    expect(stamped({ deprecatedAt })).toEqual({ deprecation: '@1767225600' });
  });

  test('announces the end and a page beside it', () => {
    const sunsetAt = new Date('2027-01-01T00:00:00Z');
    expect(stamped({ deprecatedAt, sunsetAt, link: 'https://svc.example/v2 guide' })).toEqual({
      deprecation: '@1767225600',
      sunset: 'Fri, 01 Jan 2027 00:00:00 GMT',
      link: '<https://svc.example/v2%20guide>; rel="deprecation"; type="text/html"',
    });
  });

  test('keeps a Link, and replaces the announcement of another retirement', () => {
    const headers = new Headers({ link: '</next>; rel="next"', deprecation: '@1', sunset: 'x' });
    expect(stamped({ deprecatedAt, sunsetAt: deprecatedAt, link: 'https://svc.example/' }, headers)).toEqual({
      deprecation: '@1767225600',
      sunset: 'Thu, 01 Jan 2026 00:00:00 GMT',
      link: '</next>; rel="next", <https://svc.example/>; rel="deprecation"; type="text/html"',
    });
  });

  test.each<[string, Retirement, RegExp]>([
    ['an invalid deprecation', { deprecatedAt: new Date('x') }, /^retirement\.deprecatedAt: must be a valid Date/],
    ['an invalid end', { deprecatedAt, sunsetAt: new Date('x') }, /^retirement\.sunsetAt: must be a valid Date/],
    [
      'an end before the deprecation',
      { deprecatedAt, sunsetAt: new Date(deprecatedAt.getTime() - 1) },
      /^retirement\.sunsetAt: must not be before/,
    ],
    ['a relative link', { deprecatedAt, link: '/v2' }, /^retirement\.link: must be an absolute URL/],
    ['an empty link', { deprecatedAt, link: '' }, /^retirement\.link: must be an absolute URL/],
  ])('refuses %s, and sets nothing', (_name, retirement, problem) => {
    const headers = new Headers();
    expect(() => stampRetirement(headers, retirement)).toThrow(TypeError);
    expect(() => stampRetirement(headers, retirement)).toThrow(problem);
    expect([...headers]).toEqual([]);
  });
});
