import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ParsedUrls } from '../src/node/parsed-urls.ts';
import { egressPolicy } from '../src/policy.ts';
import { checkUrl } from '../src/url.ts';

const texts = fc.oneof(
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.constantFrom(
    ...[
      'https://hooks.example/',
      'HTTPS://Hooks.Example:443/a b',
      'https://u:p@hooks.example/',
      'http://hooks.example/',
    ],
    ...['https://127.0.0.1/', 'https://[::1]/', 'https://2130706433/', 'https://hooks.example:0/', 'not a URL', ''],
    `https://hooks.example/${'x'.repeat(600)}`,
    `https://hooks.example/${'x'.repeat(3000)}`,
  ),
  fc.string(),
);

test('a URL is judged at each call as checkUrl judges it', () => {
  const urls = new ParsedUrls();
  const policy = egressPolicy({ denyNames: ['denied.example'] });
  fc.assert(
    fc.property(texts, (text) => {
      for (let call = 0; call < 2; call += 1) expect(urls.check(text, policy)).toEqual(checkUrl(text, policy));
    }),
  );
});

test('a URL whose parts are kept is judged by the policy of the call', () => {
  const urls = new ParsedUrls();
  const url = 'https://hooks.example/';
  expect(urls.check(url, egressPolicy()).ok).toBe(true);
  expect(urls.check(url, egressPolicy({ denyNames: ['hooks.example'] }))).toEqual({
    ok: false,
    reason: 'host_not_allowed',
  });
});

test('the parts of the oldest URLs are forgotten, and are parsed again', () => {
  const urls = new ParsedUrls();
  const policy = egressPolicy();
  const urlOf = (index: number) => `https://h${index}.example/`;
  for (let index = 0; index < 4500; index += 1) expect(urls.check(urlOf(index), policy).ok).toBe(true);
  for (const index of [0, 499, 500, 4499])
    expect(urls.check(urlOf(index), policy)).toEqual(checkUrl(urlOf(index), policy));
});
