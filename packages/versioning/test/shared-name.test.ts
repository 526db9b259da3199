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
  ])('selects by Accept %j: %s', (accept, expected) => {
    expect(chosen(accept as string)).toBe(expected);
  });

  test('selects one of the two for every Accept', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (accept) => {
        expect(['protocol', 'page']).toContain(chosen(accept));
      }),
    );
  });
});

describe(covers('versioning.response.header-gets-protocol'), () => {
  test.each(['1', '2', '', 'x'])('SVC-Version %j selects the protocol response for every Accept', (version) => {
    expect(chosen('text/html', version)).toBe('protocol');
  });
});

describe(covers('versioning.response.page-unmarked', 'versioning.response.shared-vary'), () => {
  test('removes the version from a page, and extends Vary on both representations', () => {
    const page = new Headers({ 'content-type': 'text/html', 'SVC-Version': '1.1', vary: 'Cookie' });
    markPage(page);
    expect([page.get('svc-version'), page.get('vary')]).toEqual([null, 'Cookie, Accept, SVC-Version']);
    const protocol = new Headers({ 'SVC-Version': '1.1', vary: 'accept' });
    markSharedName(protocol);
    expect([protocol.get('svc-version'), protocol.get('vary')]).toEqual(['1.1', 'accept, SVC-Version']);
  });

  test.each(['application/json', 'Application/JSON; charset=utf-8'])('rejects a page of %s', (type) => {
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

  test('reports a page on the path of an operation unless it is negotiated', () => {
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

  test('allows every page on a host of major 1 until that major is to be retired', () => {
    expect(pageProblems(pages.slice(0, 1), onlyV1)).toEqual([]);
    expect(pageProblems(pages.slice(0, 1), onlyV1, true)).toHaveLength(1);
  });

  test.each(['/runs/', '//runs', '/a/../runs', 'runs'])('reports %s as not in plain form', (path) => {
    const problems = pageProblems([{ path, negotiated: false }], overlap);
    if (path !== '/runs/') expect(problems).toEqual([expect.stringContaining('not a path in plain form')]);
  });
});

describe('the announcement of a retirement', () => {
  const deprecatedAt = new Date('2026-01-01T00:00:00Z');

  test('has the headers of RFC 9745 and RFC 8594', () => {
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
  ])('rejects %j', (retirement) => {
    expect(() => stampRetirement(new Headers(), retirement)).toThrow(TypeError);
  });
});
