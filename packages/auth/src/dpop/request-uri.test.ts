import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { comparableUri, isSameUri, targetPath } from './request-uri.ts';

const URI = 'https://svc.example.com/v1/runs/run_1';

describe('comparableUri', () => {
  test.each([
    ['a scheme in capitals', 'HTTPS://svc.example.com/a', 'https://svc.example.com/a'],
    ['a host in capitals', 'https://SVC.Example.com/a', 'https://svc.example.com/a'],
    ['no path', 'https://svc.example.com', 'https://svc.example.com/'],
    ['a query', 'https://svc.example.com/a?b=/c?d', 'https://svc.example.com/a'],
    ['a query without a path', 'https://svc.example.com?b', 'https://svc.example.com/'],
    ['a fragment', 'https://svc.example.com/a#b/c?d', 'https://svc.example.com/a'],
    ['a query and a fragment, both empty', 'https://svc.example.com/a?#', 'https://svc.example.com/a'],
    ['the default port of https', 'https://svc.example.com:443/a', 'https://svc.example.com/a'],
    ['the default port of http', 'http://svc.example.com:80/a', 'http://svc.example.com/a'],
    ['an empty port', 'https://svc.example.com:/a', 'https://svc.example.com/a'],
    ['the default port with zeros', 'https://svc.example.com:0443/a', 'https://svc.example.com/a'],
    ['the default port of another scheme', 'http://svc.example.com:443/a', 'http://svc.example.com:443/a'],
    ['a port with zeros', 'https://svc.example.com:08443/a', 'https://svc.example.com:8443/a'],
    ['an IPv4 address', 'http://127.0.0.1:8080/a', 'http://127.0.0.1:8080/a'],
    ['an IPv6 address', 'http://[2001:DB8::1]:8080/a', 'http://[2001:db8::1]:8080/a'],
    ['escaped letters', 'https://svc.example.com/%61%2D%2e%5F%7E%39', 'https://svc.example.com/a-._~9'],
    ['escapes that stay, in capitals', 'https://svc.example.com/%2f%3a%20', 'https://svc.example.com/%2F%3A%20'],
    ['an escaped letter between others', 'https://svc.example.com/a%2fb%63', 'https://svc.example.com/a%2Fbc'],
    ['every other character of a path', "https://h/a!$&'()*+,;=:@-._~", "https://h/a!$&'()*+,;=:@-._~"],
    ['an empty segment', 'https://svc.example.com/a//b', 'https://svc.example.com/a//b'],
    ['a slash at the end', 'https://svc.example.com/a/', 'https://svc.example.com/a/'],
    ['a dot segment', 'https://svc.example.com/a/./b', 'https://svc.example.com/a/b'],
    ['a dot segment at the end', 'https://svc.example.com/a/.', 'https://svc.example.com/a/'],
    ['two dots', 'https://svc.example.com/a/../b', 'https://svc.example.com/b'],
    ['two dots at the end', 'https://svc.example.com/a/b/..', 'https://svc.example.com/a/'],
    ['two dots above the root', 'https://svc.example.com/../../a', 'https://svc.example.com/a'],
    ['escaped dots', 'https://svc.example.com/a/%2e%2E/b', 'https://svc.example.com/b'],
    ['three dots, which are a name', 'https://svc.example.com/.../a', 'https://svc.example.com/.../a'],
  ])('normalises %s', (_name, given, comparable) => {
    expect(comparableUri(given)).toBe(comparable);
    expect(comparableUri(comparable), 'again').toBe(comparable);
  });

  test.each([
    '',
    'svc.example.com',
    '//svc.example.com/a',
    'ftp://svc.example.com/a',
    'xhttps://svc.example.com/a',
    'httpss://svc.example.com/a',
    'https:/svc.example.com/a',
    'https:///a',
    'https://:443/a',
    'https://user@svc.example.com/a',
    'https://svc.example.com:443443/a',
    'https://svc.example.com:8a/a',
    'https://svc.example.com\\a',
    'https://svc_example.com/a',
    'https://ſvc.example.com/a',
    'https://[::1/a',
    'https://[v1.x]/a',
    'https://svc.example.com/%4',
    'https://svc.example.com/%4g',
    'https://svc.example.com/a b',
    'https://svc.example.com/"',
    'https://svc.example.com/ü',
    'https://svc.example.com/a?b c',
    'https://svc.example.com/a?%zz',
    'https://svc.example.com/a#b c',
    'https://svc.example.com/a#b#c',
    ' https://svc.example.com/a',
    'https://svc.example.com/a ',
    'https://svc.example.com/a\n',
  ])('is undefined for %j', (given) => {
    expect(comparableUri(given)).toBeUndefined();
    expect(isSameUri(given, given)).toBe(false);
  });

  test('has one form for each URI: applied again it changes nothing', () => {
    const path = fc.stringMatching(/^(?:\/(?:[a-z.%~-]|%2[ef]|%4[1a]|\.){0,4}){0,4}$/);
    fc.assert(
      fc.property(
        fc.constantFrom('http', 'HTTPS'),
        fc.stringMatching(/^[a-zA-Z0-9.-]{1,8}$/),
        path,
        (scheme, host, rest) => {
          const comparable = comparableUri(`${scheme}://${host}${rest}`);
          if (comparable !== undefined) expect(comparableUri(comparable)).toBe(comparable);
        },
      ),
    );
  });

  test('resolves the same paths as the URL standard', () => {
    const segment = fc.constantFrom('a', 'b', '', '.', '..', '...', '%2e', '.%2E');
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 6 }), (segments) => {
        const uri = `https://h/${segments.join('/')}`;
        expect(comparableUri(uri)).toBe(new URL(uri).href);
      }),
    );
  });
});

describe('isSameUri', () => {
  test.each([
    [URI, URI],
    ['HTTPS://svc.example.com:443/v1/runs/run%5F1?x=1#y', URI],
    [URI, 'HTTPS://SVC.example.com/v1/./runs/run_1'],
    ['https://svc.example.com/a%2Fb', 'https://svc.example.com/a%2fb'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/'],
    ['https://svc.example.com:00443/a/../b', 'https://svc.example.com/b'],
  ])('%s is %s', (given, expected) => {
    expect(isSameUri(given, expected)).toBe(true);
  });

  test.each([
    [`${URI}/`, URI],
    ['http://svc.example.com/v1/runs/run_1', URI],
    ['https://svc.example.com:8443/v1/runs/run_1', URI],
    ['https://svc.example.com/v1/runs%2Frun_1', URI],
    ['https://svc.example.com/v1/runs/RUN_1', URI],
    ['', URI],
    ['x', 'x'],
    ['x', 'y'],
    [URI, 'x'],
  ])('%s is not %s', (given, expected) => {
    expect(isSameUri(given, expected)).toBe(false);
  });
});

describe('targetPath', () => {
  test.each([
    ['/v1/runs', '/v1/runs'],
    ['/', '/'],
    ['/?x=1', '/'],
    ['/v1/runs?x=/y?z', '/v1/runs'],
    ['/a//b/', '/a//b/'],
    ["/a%2Fb!$&'()*+,;=:@", "/a%2Fb!$&'()*+,;=:@"],
    ['http://localhost:8787/v1/runs?x', '/v1/runs'],
    ['https://svc.example.com', '/'],
    ['https://svc.example.com?x', '/'],
  ])('the path of %s is %s', (target, path) => {
    expect(targetPath(target)).toBe(path);
  });

  test.each([
    '',
    '*',
    'v1/runs',
    '//svc.example.com/v1',
    '?x',
    '/a b',
    '/a\n',
    '/%4',
    '/ü',
    '/a?b c',
    '/a#b',
    'ftp://h/a',
  ])('%j has none', (target) => {
    expect(targetPath(target)).toBeUndefined();
  });
});
