import { describe, expect, test } from 'vitest';
import { formatAddress, sameAddress, unmapped } from '../src/address.ts';
import { checkAddress, checkAnswers, checkUrl, egressPolicy, parseAddress } from '../src/index.ts';
import { canonicalName, isDeniedName, isOrdinaryName } from '../src/names.ts';
import { requestHost, requestTarget } from '../src/url.ts';

const policy = egressPolicy();
const reason = (url: string, under = policy) => {
  const check = checkUrl(url, under);
  return check.ok ? 'ok' : check.reason;
};
const bytesOf = (text: string) => {
  const address = parseAddress(text);
  return address && Buffer.from(address).toString('hex');
};
const required = (text: string) => parseAddress(text) ?? expect.unreachable(text);

describe('the text of an address', () => {
  test.each([
    ...['1.2.3', '1.2.3.', '1..2.3', '.1.2.3', '1.2.3.4.', '1.2.3.4.5', '10.0.0.a', '10.0.0./', '10.0.0.:', '1', '12'],
    ...['256.1.1.1', '1.1.1.256', '00.1.1.1', '01.1.1.1', '1.1.1.00', '1.1.1.01', 'a.1.1.1', ':1', ':', '::1:', '1:'],
    ...['1:::2', ':::', '1::2::3', '1g::', 'g::', '@::', '`::', '/::', '1:2:3:4:5:6:7:8:', '1:2:3:4:5:6:7:8:9'],
    ...['1:2:3:4:5:6:7::8', '1:2:3:4:5:6:7:8::', '::1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7', '12345::', '::12345', '1:2 ::'],
    ...[
      '::1.2.3',
      '::1.2.3.4:5',
      '::1.2.3.4.5',
      '::01.2.3.4',
      '1:2:3:4:5:6:7:1.2.3.4',
      '1:2:3:4:5:1.2.3.4',
      '::.1.2.3',
    ],
    ...[
      '::1.2.3.4::',
      '::1%1',
      '::1 ',
      ' ::1',
      '1.2.3.4 ',
      `${'0:'.repeat(22)}::`,
      `0000:${'0000:'.repeat(7)}255.255.1`,
    ],
  ])('%j is none', (text) => expect(parseAddress(text)).toBeUndefined());

  test.each([
    ['0.0.0.0', '00000000'],
    ['255.255.255.255', 'ffffffff'],
    ['1.20.200.9', '0114c809'],
    ['::', '0'.repeat(32)],
    ['::1', `${'0'.repeat(31)}1`],
    ['1::', `0001${'0'.repeat(28)}`],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
    ['::2:3:4:5:6:7:8', '00000002000300040005000600070008'],
    ['1::8', `0001${'0'.repeat(24)}0008`],
    ['abcd:ef09:ABCD:EF09::1', `abcdef09abcdef09${'0'.repeat(15)}1`],
    ['1:2:3:4:5:6:1.2.3.4', '00010002000300040005000601020304'],
    ['::1.2.3.4', `${'0'.repeat(24)}01020304`],
    ['1:2:3:4:5::1.2.3.4', '00010002000300040005000001020304'],
    ['0000:0000:0000:0000:0000:ffff:255.255.255.255', `${'0'.repeat(20)}ffffffffffff`],
  ])('%s is read as %s', (text, bytes) => expect(bytesOf(text)).toBe(bytes));

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['1::ab', '1:0:0:0:0:0:0:ab'],
  ])('%s is written as %s', (text, written) => expect(formatAddress(required(text))).toBe(written));
});

describe('mapped addresses', () => {
  test.each([
    ['::ffff:8.8.8.8', '08080808'],
    ['::ff:8.8.8.8', undefined],
    ['::ff00:8.8.8.8', undefined],
    ['::1:ffff:8.8.8.8', undefined],
    ['1::ffff:8.8.8.8', undefined],
    ['255.255.255.255', undefined],
  ])('%s contains %s', (text, inner) => {
    expect(Buffer.from(unmapped(required(text))).toString('hex')).toBe(inner ?? bytesOf(text));
  });

  test('one with a broken prefix is not allowed as the address inside', () => {
    expect(checkAddress('::ff:8.8.8.8', policy)).toEqual({ allowed: false, range: 'unallocated' });
  });

  test.each([
    ['8.8.8.8', '8.8.8.8', true],
    ['8.8.8.8', '::ffff:8.8.8.8', true],
    ['::ffff:8.8.8.8', '8.8.8.8', true],
    ['8.8.8.8', '8.8.8.9', false],
    ['8.8.8.8', '9.8.8.8', false],
    ['1::8', '1::8', true],
    ['1::8', '1::9', false],
    ['0.0.0.0', '::', false],
    ['::', '0.0.0.0', false],
  ])('%s and %s are the same: %s', (a, b, expected) => expect(sameAddress(required(a), required(b))).toBe(expected));
});

describe('names', () => {
  const longest = `${'a.'.repeat(125)}abc`;
  const longer = `${'a.'.repeat(125)}abcd`;
  const none = { denyNames: new Set<string>(), denySuffixes: [] };

  test.each([
    ['A.Example', 'a.example'],
    ['a.example..', 'a.example'],
    [longest, longest],
    [longer, undefined],
    [`${longest}.`, longest],
    ['', undefined],
    ['...', undefined],
    ['.a', undefined],
    ['a..b', undefined],
  ])('the canonical form of %j is %j', (given, canonical) => expect(canonicalName(given)).toBe(canonical));

  test.each([
    ...['a.example', 'hooks.example.com', 'a_b-9.example', 'localhost.example', longest],
    ...['a.locals', 'a.svcs', 'a.internals', 'a.localhosts', 'a.localdomains', 'a.arpas', `a.${'z'.repeat(63)}`],
  ])('%s needs no further check, except where the operator denies names', (name) => {
    expect(isOrdinaryName(name, none)).toBe(true);
    expect(isDeniedName(name, none)).toBe(false);
    expect(isOrdinaryName(name, { ...none, denyNames: new Set(['b.example']) })).toBe(false);
    expect(isOrdinaryName(name, { ...none, denySuffixes: ['.b.example'] })).toBe(false);
  });

  test.each([
    ...[
      'example',
      'metadata.goog',
      'a.localhost',
      'a.localdomain',
      'a.internal',
      'a.local',
      'a.svc',
      'home.arpa',
      longer,
    ],
    ...[
      'a.example.',
      '.a.example',
      'a..example',
      'a.1',
      'a.b',
      'A.example',
      'a.exämple',
      `a.${'z'.repeat(64)}`,
      '[::1]',
    ],
  ])('%s needs the complete check', (name) => expect(isOrdinaryName(name, none)).toBe(false));

  test.each([
    [['intranet.example'], 'intranet.example', true],
    [['intranet.example'], 'www.intranet.example', false],
    [['*.corp.example'], 'a.corp.example', true],
    [['*.corp.example'], 'corp.example', false],
  ])('an operator that denies %j alone denies %s: %s', (denyNames, name, isDenied) => {
    expect(reason(`https://${name}/`, egressPolicy({ denyNames }))).toBe(isDenied ? 'host_not_allowed' : 'ok');
  });

  test.each([
    ...['metadata', 'metadata.goog', 'metadata.tencentyun.com', 'instance-data', 'rancher-metadata', 'home.arpa'],
    ...['localhost', 'a.localhost', 'a.localdomain', 'a.internal', 'a.local', 'a.svc', 'a.home.arpa'],
  ])('%s is denied', (name) => expect(isDeniedName(name, none)).toBe(true));
});

describe('URLs', () => {
  const path = (length: number) => `https://a.example/${'a'.repeat(length - 'https://a.example/'.length)}`;

  test.each([
    [path(2048), 'ok'],
    [path(2049), 'url_too_long'],
    // A resolver reads a number behind empty labels as an address.
    ['https://0x7f.1../', 'host_not_allowed'],
    ['https://a.0x7f../', 'host_not_allowed'],
    ['https://a.0x../', 'host_not_allowed'],
    ['https://1.2.3..../', 'host_not_allowed'],
    ['https://a.9../', 'host_not_allowed'],
    ['https://a.99../', 'host_not_allowed'],
    ['https://a.9b1../', 'ok'],
    ['https://a.0xfg../', 'ok'],
    ['https://a.9b../', 'ok'],
    ['https://a.b9../', 'ok'],
    ['https://a.example../', 'ok'],
    ['https://user:pw@a.example/', 'credentials_in_url'],
  ])('%s: %s', (url, expected) => expect(reason(url)).toBe(expected));

  test.each([
    ['https://A.example/x?y#z', { hostname: 'a.example', port: 443, protocol: 'https:', localhost: false }],
    ['https://A.example.:8443/', { hostname: 'a.example', port: 8443, protocol: 'https:', localhost: false }],
    ['http://localhost/', { hostname: 'localhost', port: 80, protocol: 'http:', localhost: true }],
    ['https://localhost:81/', { hostname: 'localhost', port: 81, protocol: 'https:', localhost: true }],
    ['http://127.0.0.1:81/', { hostname: '127.0.0.1', port: 81, protocol: 'http:', localhost: false }],
    ['https://[::1]/', { hostname: '::1', port: 443, protocol: 'https:', localhost: false }],
    ['https://[2606:4700::1111]/', { hostname: '2606:4700::1111', port: 443, localhost: false }],
  ])('%s is read as %j', (url, expected) => {
    const check = checkUrl(url, egressPolicy({ allowLoopback: true }));
    expect(check).toMatchObject({ ok: true, url: expected });
    if (!check.ok) return;
    const isAddress = /^[\d.]+$|:/.test(expected.hostname);
    expect(check.url.literal).toEqual(isAddress ? required(expected.hostname) : undefined);
  });

  test.each([
    ['https://a.example', '/', 'a.example'],
    ['https://a.example/b?c=/d#e', '/b?c=/d', 'a.example'],
    ['https://a.example:8443/b#', '/b', 'a.example:8443'],
    ['https://a.example:443/#/b', '/', 'a.example'],
  ])('%s asks for %s of %s', (text, target, host) => {
    const check = checkUrl(text, policy);
    if (!check.ok) return expect.unreachable(check.reason);
    expect([requestTarget(check.url), requestHost(check.url)]).toEqual([target, host]);
  });

  test('allowPorts limits names, addresses and hosts that need the complete check', () => {
    const under = egressPolicy({ allowPorts: [8443] });
    for (const host of ['a.example', 'a.example..', '8.8.8.8']) {
      expect([reason(`https://${host}/`, under), reason(`https://${host}:8443/`, under)]).toEqual([
        'port_not_allowed',
        'ok',
      ]);
    }
  });
});

describe('answers', () => {
  const check = (answers: readonly string[]) => checkAnswers(answers, policy, 443, () => false);

  test('are returned in their order', () => {
    const answers = ['8.8.8.8', '2606:4700::1'];
    expect(check(answers)).toEqual({ ok: true, addresses: answers.map(required) });
  });

  test('are at most 64', () => {
    expect(check(new Array(64).fill('8.8.8.8')).ok).toBe(true);
    expect(check(new Array(65).fill('8.8.8.8'))).toEqual({ ok: false, reason: 'too-many-addresses' });
  });
});
