// Runs in every runtime against the package as it is built, so it uses nothing but the language and the Web's own
// types.
import { checkAddress, checkAnswers, checkUrl, EgressError, egressPolicy, parseAddress } from '@svc/egress-guard';

const DENIED = {
  loopback: ['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.1', '::ffff:c0a8:1'],
  'link-local': ['169.254.169.254', 'fe80::1', 'febf::1', '::ffff:a9fe:a9fe'],
  'unique-local': ['fc00::1', 'fdff::1', 'fd00:ec2::254'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  shared: ['100.64.0.0', '100.127.255.255'],
  platform: ['168.63.129.16'],
  nat64: ['64:ff9b::8.8.8.8'],
  '6to4': ['2002:808:808::'],
  unallocated: ['4000::', '1fff:ffff::', '::1:0:0:0'],
  'not-an-address': ['', '127.1', '0x7f000001', 'localhost', '::1%lo', '1.2.3.4.5'],
};
const ALLOWED = [
  '8.8.8.8',
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.0',
  '100.128.0.0',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
  '2001:3::1',
];

const URLS = {
  ok: [
    'https://hooks.example/',
    'https://hooks.example:8443/a?b=c#d',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'HTTPS://HOOKS.EXAMPLE./',
  ],
  scheme_not_https: ['http://hooks.example/', 'ftp://hooks.example/', 'javascript:alert(1)', 'data:,x'],
  credentials_in_url: ['https://user@hooks.example/', 'https://:pw@hooks.example/'],
  port_not_allowed: ['https://hooks.example:0/'],
  malformed_url: ['', 'hooks.example', 'https://', 'https://1.2.3.256/'],
  url_too_long: [`https://hooks.example/${'a'.repeat(2048)}`],
  host_not_allowed: [
    ...[
      'https://localhost/',
      'https://a.LocalHost./',
      'https://metadata/',
      'https://metadata.google.internal/',
      'https://127.0.0.1../',
    ],
    ...[
      'https://0x7f.1/',
      'https://017700000001/',
      'https://2130706433/',
      'https://0/',
      'https://127.1/',
      'https://%31%32%37.0.0.1/',
    ],
    ...[
      'https://１２７。0。0。1/',
      'https://[::1]/',
      'https://[::ffff:7f00:1]/',
      'https://169.254.169.254/',
      'https://a..b/',
      'https://x.internal/',
    ],
  ],
};

/** @returns {Promise<import('@svc/tools/portable').SuiteReport>} */
export default async function suite() {
  const failures = [];
  let total = 0;
  const check = (why, found, expected) => {
    total += 1;
    if (found !== expected) failures.push(`${why}: ${found}, expected ${expected}`);
  };
  const policy = egressPolicy();

  for (const [range, addresses] of Object.entries(DENIED)) {
    for (const address of addresses) {
      const verdict = checkAddress(address, policy);
      check(address, verdict.allowed ? 'allowed' : verdict.range, range);
    }
  }
  for (const address of ALLOWED) check(address, checkAddress(address, policy).allowed, true);
  for (const [reason, urls] of Object.entries(URLS)) {
    for (const url of urls) {
      const checked = checkUrl(url, policy);
      check(url, checked.ok ? 'ok' : checked.reason, reason);
    }
  }
  const own = (address) => String(address) === String(parseAddress('9.9.9.9'));
  check('answers', checkAnswers(['8.8.8.8', '2606:4700::1'], policy, 443, own).ok, true);
  check('a mixed set', checkAnswers(['8.8.8.8', '10.0.0.1'], policy, 443, own).reason, 'private');
  check('an address of this machine', checkAnswers(['9.9.9.9'], policy, 443, own).reason, 'own-address');
  const blocked = egressPolicy({ denyCidrs: ['8.8.8.0/24'] });
  check('a block of the operator', checkAddress('8.8.8.8', blocked).range, 'operator');
  const error = new EgressError('timeout', 'deadline');
  check(
    'an error',
    [EgressError.is(error), error.code, JSON.stringify(error).includes('deadline')].join(),
    'true,timeout,false',
  );
  return { total, failures };
}
