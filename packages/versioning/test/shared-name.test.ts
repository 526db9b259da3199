import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { markPage, markSharedName, pageProblems, representationOf, served, stampRetirement } from '../src/index.ts';

const chosen = (accept?: string | string[], version?: string) =>
  representationOf({
    method: 'GET',
    target: '/runs',
    headers: { ...(accept !== undefined && { accept }), ...(version !== undefined && { 'svc-version': version }) },
  });

describe(covers('versioning.response.json-gets-protocol', 'versioning.response.only-html-gets-page'), () => {
  test.each([
    [undefined, 'protocol'],
    ['', 'protocol'],
    ['*/*', 'protocol'],
    ['application/json', 'protocol'],
    ['application/*', 'protocol'],
    ['application/json, text/html', 'protocol'],
    ['text/html, application/json', 'protocol'],
    ['text/html;q=0.5, application/json;q=0.5', 'protocol'],
    ['text/html;q=0.8, application/json;q=0.9', 'protocol'],
    ['text/html, */*', 'protocol'],
    ['text/*', 'protocol'],
    ['image/png', 'protocol'],
    ['text/html;q=0', 'protocol'],
    ['text/html;q=0, */*;q=0', 'protocol'],
    ['text/html;q=2', 'protocol'],
    ['text/html;q=x', 'protocol'],
    ['text/html', 'page'],
    ['TEXT/HTML', 'page'],
    ['text/html;charset=utf-8', 'page'],
    ['text/html;level=1;q=0.2', 'page'],
    ['text/html;q=0.001, application/json;q=0', 'page'],
    ['text/html, application/json;q=0.9', 'page'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'page'],
    ['text/html, application/*;q=0.9, */*', 'page'],
    [['text/html', 'application/json;q=0.1'], 'page'],
  ])('Accept %j: %s', (accept, expected) => {
    expect(chosen(accept as string)).toBe(expected);
  });

  test('whatever Accept holds, one of the two is chosen', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (accept) => {
        expect(['protocol', 'page']).toContain(chosen(accept));
      }),
    );
  });
});

describe(covers('versioning.response.header-gets-protocol'), () => {
  test.each(['1', '2', '', 'x'])('SVC-Version %j gets the protocol response, whatever is accepted', (version) => {
    expect(chosen('text/html', version)).toBe('protocol');
  });
});

describe(covers('versioning.response.page-unmarked', 'versioning.response.shared-vary'), () => {
  test('a page names no version, and both representations vary', () => {
    const page = new Headers({ 'content-type': 'text/html', 'SVC-Version': '1.1', vary: 'Cookie' });
    markPage(page);
    expect([page.get('svc-version'), page.get('vary')]).toEqual([null, 'Cookie, Accept, SVC-Version']);
    const protocol = new Headers({ 'SVC-Version': '1.1', vary: 'accept' });
    markSharedName(protocol);
    expect([protocol.get('svc-version'), protocol.get('vary')]).toEqual(['1.1', 'accept, SVC-Version']);
  });

  test.each(['application/json', 'Application/JSON; charset=utf-8'])('a page of %s is refused', (type) => {
    expect(() => markPage(new Headers({ 'content-type': type }))).toThrow(/must not be application\/json/);
  });
});

describe(covers('versioning.response.unmet-conditions-move-page', 'versioning.overlap.shared-names-resolved'), () => {
  const overlap = served({ versions: ['1.1', '2.0'], preferred: '1.1' });
  const onlyV1 = served({ versions: ['1.1'], preferred: '1.1' });
  const pages = [
    { path: '/runs', negotiated: false },
    { path: '/runs/{runId}', negotiated: true },
    { path: '/webhooks', negotiated: true },
    { path: '/about', negotiated: false },
  ];

  test('a page on a name of the protocol must be told apart or move', () => {
    expect(pageProblems(pages.slice(0, 1), overlap)).toEqual([
      expect.stringContaining('pages: "/runs" is the path of an operation. Move the page'),
    ]);
    expect(
      pageProblems(
        [
          { path: '/runs', negotiated: true },
          { path: '/about', negotiated: false },
        ],
        overlap,
      ),
    ).toEqual([]);
  });

  test('on a host of major 1 the names are free, until it is to be retired', () => {
    expect(pageProblems(pages.slice(0, 1), onlyV1)).toEqual([]);
    expect(pageProblems(pages.slice(0, 1), onlyV1, true)).toHaveLength(1);
  });

  test.each(['/runs/', '//runs', '/a/../runs', 'runs'])('%s is no path in plain form', (path) => {
    const problems = pageProblems([{ path, negotiated: false }], overlap);
    if (path !== '/runs/') expect(problems).toEqual([expect.stringContaining('not a path in plain form')]);
  });
});

describe('the end of a major is announced', () => {
  const deprecatedAt = new Date('2026-01-01T00:00:00Z');

  test('as RFC 9745 and RFC 8594 write it', () => {
    const headers = new Headers({ link: '<https://a.example/>; rel="next"' });
    stampRetirement(headers, {
      deprecatedAt,
      sunsetAt: new Date('2027-01-01T00:00:00Z'),
      link: 'https://svc.example/v2',
    });
    expect(Object.fromEntries(headers)).toEqual({
      deprecation: '@1767225600',
      sunset: 'Fri, 01 Jan 2027 00:00:00 GMT',
      link: '<https://a.example/>; rel="next", <https://svc.example/v2>; rel="deprecation"; type="text/html"',
    });
  });

  test.each([
    { deprecatedAt: new Date(Number.NaN) },
    { deprecatedAt, sunsetAt: new Date('2025-01-01T00:00:00Z') },
    { deprecatedAt, link: 'not a URL' },
  ])('%j is refused', (retirement) => {
    expect(() => stampRetirement(new Headers(), retirement)).toThrow(TypeError);
  });
});
