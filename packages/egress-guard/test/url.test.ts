import { BlockList, isIP } from 'node:net';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAddress, sameAddress } from '../src/address.ts';
import { classify } from '../src/classify.ts';
import { checkAnswers, checkUrl, egressPolicy, parseAddress, parseCidr } from '../src/index.ts';

const policy = egressPolicy();
const reason = (url: string, under = policy) => {
  const check = checkUrl(url, under);
  return check.ok ? 'ok' : check.reason;
};
const range = (text: string, under = policy) => {
  const address = parseAddress(text);
  if (address === undefined) return 'not-an-address';
  const verdict = classify(address, under, 443);
  return verdict.allowed ? 'allowed' : verdict.range;
};

describe(covers('webhooks.url.non-https', 'webhooks.url.name-localhost', 'webhooks.url.name-metadata'), () => {
  test.each([
    ['https://example.com/hook?a=b', 'ok'],
    ['https://example.com:8443/', 'ok'],
    ['https://EXAMPLE.com./', 'ok'],
    ['http://example.com/', 'scheme_not_https'],
    ['ftp://example.com/', 'scheme_not_https'],
    ['javascript:alert(1)', 'scheme_not_https'],
    ['example.com', 'malformed_url'],
    ['https://', 'malformed_url'],
    ['https://user@example.com/', 'credentials_in_url'],
    ['https://:pw@example.com/', 'credentials_in_url'],
    ['https://example.com:0/', 'port_not_allowed'],
    [`https://example.com/${'a'.repeat(2048)}`, 'url_too_long'],
    ['https://localhost/', 'host_not_allowed'],
    ['https://LOCALHOST../', 'host_not_allowed'],
    ['https://a.localhost/', 'host_not_allowed'],
    ['https://metadata/', 'host_not_allowed'],
    ['https://Metadata.Google.Internal./', 'host_not_allowed'],
    ['https://kubernetes.default.svc/', 'host_not_allowed'],
    ['https://a..b/', 'host_not_allowed'],
  ])('%s: %s', (url, expected) => expect(reason(url)).toBe(expected));
});

describe(
  covers(
    'webhooks.url.loopback',
    'webhooks.url.rfc-1918',
    'webhooks.url.link-local',
    'webhooks.url.ipv6-ula',
    'webhooks.url.cloud-metadata',
    'webhooks.url.v4-in-v6',
  ),
  () => {
    test.each([
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f.1',
      '017700000001',
      '0',
      '127.0.0.1.',
      '127.0.0.1..',
      '%31%32%37.0.0.1',
      '127。0。0。1',
      '１２７.0.0.1',
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '168.63.129.16',
      '192.0.2.1',
      '198.18.0.1',
      '[::1]',
      '[::]',
      '[fe80::1]',
      '[fc00::1]',
      '[fd00:ec2::254]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[0:0:0:0:0:ffff:a9fe:a9fe]',
      '[::127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '[2001:0:1::]',
      '[ff02::1]',
      '[fec0::1]',
      '[5f00::1]',
      '[3fff::1]',
      '[4000::1]',
    ])('https://%s/ is refused', (host) =>
      expect(['host_not_allowed', 'malformed_url']).toContain(reason(`https://${host}/`)),
    );

    test.each(['8.8.8.8', '172.32.0.1', '[2606:4700::1111]', '[2001:4860:4860::8888]', '[::ffff:8.8.8.8]'])(
      'https://%s/ is allowed',
      (host) => expect(reason(`https://${host}/`)).toBe('ok'),
    );
  },
);

describe('addresses', () => {
  test('IPv4 addresses have the verdict of an independent block list', () => {
    const denied = new BlockList();
    const blocks = [
      '0.0.0.0/8',
      '10.0.0.0/8',
      '100.64.0.0/10',
      '127.0.0.0/8',
      '169.254.0.0/16',
      '172.16.0.0/12',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '192.168.0.0/16',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/3',
      '168.63.129.16/32',
    ];
    for (const block of blocks) denied.addSubnet(block.split('/')[0] ?? '', Number(block.split('/')[1]), 'ipv4');
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect(range(text) === 'allowed').toBe(!denied.check(text, 'ipv4'));
      }),
      { numRuns: 2000 },
    );
  });

  test('a mapped address is judged as the IPv4 address that it reaches', () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect(range(`::ffff:${text}`)).toBe(range(text));
      }),
    );
  });

  test('parseAddress agrees with the runtime', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
        const address = parseAddress(text);
        expect(address !== undefined).toBe(isIP(text) !== 0 && !text.includes('%'));
        if (address === undefined) return;
        const again = parseAddress(formatAddress(address));
        expect(again !== undefined && sameAddress(again, address)).toBe(true);
        if (address.length === 16)
          expect(new URL(`http://[${text}]/`).hostname).toBe(new URL(`http://[${formatAddress(address)}]/`).hostname);
      }),
      { numRuns: 1000 },
    );
  });

  test.each(['01.2.3.4', '1.2.3', '1.2.3.4.5', '256.1.1.1', '1::2::3', '::1%eth0', '1:2:3:4:5:6:7', '12345::', ''])(
    '%j is not an address',
    (text) => expect(parseAddress(text)).toBeUndefined(),
  );
});

describe('the operator', () => {
  const under = egressPolicy({ allowCidrs: ['10.1.0.0/16', '127.0.0.0/8'], denyCidrs: ['10.1.2.0/24', '8.8.8.0/24'] });
  test('allowCidrs overrides the tables, and denyCidrs overrides both', () => {
    expect(range('10.1.1.1', under)).toBe('allowed');
    expect(range('10.1.2.1', under)).toBe('operator');
    expect(range('10.2.0.1', under)).toBe('private');
    expect(range('8.8.8.8', under)).toBe('operator');
    expect(range('127.0.0.1', under)).toBe('loopback');
  });

  test.each(['10.0.0.0', '10.0.0.1/8', '10.0.0.0/33', 'x/8', '::/129', '10.0.0.0/08'])('%s is not a block', (text) => {
    expect(parseCidr(text)).toBeUndefined();
    expect(() => egressPolicy({ denyCidrs: [text] })).toThrow(text);
  });
});

describe(covers('webhooks.url.loopback-switch'), () => {
  test.each([
    [true, 'http://127.0.0.1:81/', 'ok'],
    [true, 'http://localhost/', 'ok'],
    [true, 'https://[::1]/', 'ok'],
    [true, 'http://[::ffff:127.0.0.1]/', 'ok'],
    [true, 'http://example.com/', 'scheme_not_https'],
    [true, 'https://10.0.0.1/', 'host_not_allowed'],
    [true, 'https://a.localhost/', 'host_not_allowed'],
    [true, 'https://0.0.0.0/', 'host_not_allowed'],
    [[81], 'http://127.0.0.1:81/', 'ok'],
    [[81], 'http://127.0.0.1:82/', 'port_not_allowed'],
    [[81], 'https://127.0.0.1/', 'host_not_allowed'],
    [false, 'http://127.0.0.1:81/', 'scheme_not_https'],
  ])('allowLoopback %j: %s is %s', (allowLoopback, url, expected) => {
    expect(reason(url, egressPolicy({ allowLoopback }))).toBe(expected);
  });
});

describe(covers('webhooks.delivery.every-answer-checked'), () => {
  const check = (answers: string[]) => checkAnswers(answers, policy, 443, (address) => address[0] === 9);
  test.each([
    [['8.8.8.8', '2606:4700::1'], 'ok'],
    [['8.8.8.8', '10.0.0.1'], 'private'],
    [['8.8.8.8', 'not an address'], 'not-an-address'],
    [['8.8.8.8', '9.9.9.9'], 'own-address'],
    [[], 'no-address'],
    [new Array(65).fill('8.8.8.8'), 'too-many-addresses'],
  ])('%j: %s', (answers, expected) => {
    const outcome = check(answers);
    expect(outcome.ok ? 'ok' : outcome.reason).toBe(expected);
  });
});
