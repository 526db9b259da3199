import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAddress } from '../src/address.ts';
import { checkAddress, checkUrl, egressPolicy, parseAddress } from '../src/index.ts';
import { isDeniedName, isOrdinaryName } from '../src/names.ts';
import { IPV4_SPECIAL_PURPOSE, IPV6_SPECIAL_PURPOSE } from '../src/special-purpose-registry.ts';
import { requestTarget } from '../src/url.ts';
import { DENIED_BLOCKS, isDenied, numberOf, REACHABLE_BLOCKS, textOf } from './oracle.ts';

const policy = egressPolicy();
const allows = (text: string, under = policy) => checkAddress(text, under).allowed;

describe(
  covers('webhooks.url.rfc-1918', 'webhooks.url.loopback', 'webhooks.url.link-local', 'webhooks.url.ipv6-ula'),
  () => {
    describe.each([...DENIED_BLOCKS, ...REACHABLE_BLOCKS])('%s', (block) => {
      const [base = '', bits = ''] = block.split('/');
      const { value, width } = numberOf(base);
      const last = value + (1n << BigInt(width - Number(bits))) - 1n;
      const top = 1n << BigInt(width);

      test.each([
        ['its first address', value],
        ['its last address', last],
        ['the one before it', value - 1n],
        ['the one after it', last + 1n],
      ])('%s', (_title, address) => {
        if (address < 0n || address >= top) return;
        const text = textOf(address, width);
        expect([text, allows(text)]).toEqual([text, !isDenied(address, width)]);
      });
    });

    test('the tables of the tests have every row of the registries', () => {
      const known = new Set([...DENIED_BLOCKS, ...REACHABLE_BLOCKS]);
      const rows = [...IPV4_SPECIAL_PURPOSE, ...IPV6_SPECIAL_PURPOSE].map(([cidr]) => cidr);
      expect(rows.filter((cidr) => !known.has(cidr))).toEqual([]);
    });

    test('any address has the verdict of an independent judge', () => {
      fc.assert(
        fc.property(fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }), (value) => {
          expect(allows(textOf(value, 32))).toBe(!isDenied(value, 32));
        }),
        { numRuns: 2000 },
      );
      const near = fc.constantFrom(...[...DENIED_BLOCKS, ...REACHABLE_BLOCKS].filter((block) => block.includes(':')));
      fc.assert(
        fc.property(near, fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), fc.nat(128), (block, noise, keep) => {
          // Addresses that share the beginning of a block, so that the borders are hit.
          const { value } = numberOf(block.split('/')[0] ?? '');
          const mask = (1n << BigInt(128 - keep)) - 1n;
          const address = (value & ~mask) | (noise & mask);
          expect([textOf(address, 128), allows(textOf(address, 128))]).toEqual([
            textOf(address, 128),
            !isDenied(address, 128),
          ]);
        }),
        { numRuns: 3000 },
      );
    });
  },
);

describe(covers('webhooks.url.cloud-metadata'), () => {
  test.each([
    ...['169.254.169.254', '169.254.169.253', '169.254.169.123', '169.254.169.250', '169.254.170.2', '169.254.170.23'],
    ...[
      '169.254.0.23',
      '169.254.42.42',
      '100.100.100.200',
      '192.0.0.192',
      '168.63.129.16',
      'fd00:ec2::254',
      'fd00:ec2::23',
    ],
    ...[
      'fd20:ce::254',
      'fd00:c1::a9fe:a9fe',
      'fd00:42::42',
      'fd00:a9fe:a9fe::1',
      'fd00:100::100:200',
      'fe80::a9fe:a9fe',
    ],
  ])('%s is denied', (address) => {
    expect(allows(address)).toBe(false);
  });
});

describe(covers('webhooks.url.v4-in-v6'), () => {
  const ipv4 = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n });

  test('a mapped address has the verdict of the IPv4 address inside, in every spelling', () => {
    fc.assert(
      fc.property(ipv4, (value) => {
        const inside = textOf(value, 32);
        const hex = `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
        const verdict = allows(inside);
        for (const text of [`::ffff:${inside}`, `::ffff:${hex}`, `0:0:0:0:0:ffff:${hex}`, `0:0:0:0:0:FFFF:${inside}`]) {
          expect([text, allows(text)]).toEqual([text, verdict]);
        }
      }),
    );
  });

  test('a translated or tunnelled address is denied, and judged by the IPv4 address inside with translated: judge', () => {
    const judging = egressPolicy({ translated: 'judge' });
    fc.assert(
      fc.property(ipv4, (value) => {
        const inside = textOf(value, 32);
        const hex = `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
        for (const text of [`64:ff9b::${inside}`, `2002:${hex}::1`]) {
          expect(allows(text)).toBe(false);
          expect([text, allows(text, judging)]).toEqual([text, allows(inside)]);
        }
        for (const text of [`::${inside}`, `::ffff:0:${inside}`, `64:ff9b:1::${inside}`, `2001:0:${hex}::`]) {
          expect(allows(text, judging)).toBe(false);
        }
      }),
    );
  });

  test('allowLoopback does not open loopback behind a gateway', () => {
    const open = egressPolicy({ translated: 'judge', allowLoopback: true });
    expect(allows('127.0.0.1', open)).toBe(true);
    expect(allows('64:ff9b::127.0.0.1', open)).toBe(false);
    expect(allows('2002:7f00:1::', open)).toBe(false);
  });
});

describe('a text that is not a plain address is denied', () => {
  test.each([
    ...[
      '',
      ' ',
      'localhost',
      '127.1',
      '0x7f.0.0.1',
      '0177.0.0.1',
      '2130706433',
      '1.2.3.4 ',
      ' 1.2.3.4',
      '1.2.3.4\n',
      '1.2.3',
      '1.2.3.4.',
    ],
    ...[
      '1.2.3.4.5',
      '256.0.0.1',
      '1..2.3',
      '+1.2.3.4',
      '1e1.0.0.1',
      '١.2.3.4',
      '8.8.8.08',
      '[::1]',
      '::1%lo',
      '::1%25lo',
      '1::2::3',
      ':::',
    ],
    ...[
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4:5:6:7:',
      ':1:2:3:4:5:6:7',
      '12345::',
      'g::',
      '::1.2.3',
      '::1.2.3.4.5',
      '1.2.3.4::',
      '::ffff:1.2.3.4:1',
    ],
    '1:2:3:4:5:6:7::8:9',
    '1:2:3:4:5:6:7:1.2.3.4',
  ])('%j', (text) => {
    expect(parseAddress(text)).toBeUndefined();
    expect(checkAddress(text, policy)).toEqual({ allowed: false, range: 'not-an-address' });
  });

  test.each([
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
    ['::', '0:0:0:0:0:0:0:0'],
    ['1::', '1:0:0:0:0:0:0:0'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
    ['::1.2.3.4', '0:0:0:0:0:0:102:304'],
    ['ABCD::', 'abcd:0:0:0:0:0:0:0'],
  ])('%j is %s', (text, expected) => {
    expect(formatAddress(parseAddress(text) ?? new Uint8Array(4))).toBe(expected);
  });
});

describe('a URL has the verdict of its address in every spelling', () => {
  const part = (value: bigint, base: 'decimal' | 'octal' | 'hex') =>
    base === 'decimal' ? String(value) : base === 'octal' ? `0${value.toString(8)}` : `0x${value.toString(16)}`;
  const base = fc.constantFrom('decimal' as const, 'octal' as const, 'hex' as const);
  const wide = (text: string) =>
    text.replace(/[0-9.]/g, (one) => (one === '.' ? '。' : String.fromCharCode(one.charCodeAt(0) + 0xfee0)));
  const escaped = (text: string) => text.replace(/[0-9]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  const disguise = fc.constantFrom(
    (text: string) => text,
    wide,
    escaped,
    (text: string) => `${text}.`,
    (text: string) => text.toUpperCase(),
  );

  test('IPv4 in every base, number of parts and disguise', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }),
        base,
        fc.integer({ min: 1, max: 4 }),
        disguise,
        (value, form, parts, hide) => {
          const shifts = [24n, 16n, 8n].slice(0, parts - 1);
          const rest = value & ((1n << BigInt(32 - 8 * (parts - 1))) - 1n);
          const text = [...shifts.map((shift) => part((value >> shift) & 255n, form)), part(rest, form)].join('.');
          const check = checkUrl(`https://${hide(text)}/`, policy);
          expect([text, check.ok]).toEqual([text, allows(textOf(value, 32))]);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('IPv6 in every compression and case', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.boolean(), (text, upper) => {
        const check = checkUrl(`https://[${upper ? text.toUpperCase() : text}]/`, policy);
        expect([text, check.ok]).toEqual([text, allows(text.toLowerCase())]);
      }),
      { numRuns: 1000 },
    );
  });

  test.each(['127.0.0.1..', '127.0.0.1...', '0x', '0x7f', '08', '1.08', 'a.1', 'a.0x1'])(
    'rejects %s, which is neither a name nor an address',
    (host) => {
      expect(checkUrl(`https://${host}/`, policy)).toMatchObject({ ok: false });
    },
  );
});

describe('names', () => {
  test.each([
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'localhost...',
      'a.localhost',
      'a.b.localhost.',
      'ｌｏｃａｌｈｏｓｔ',
      'loc%61lhost',
    ],
    ...[
      'metadata',
      'METADATA.',
      'metadata.google.internal',
      'Metadata.Google.Internal.',
      'metadata.goog',
      'metadata.tencentyun.com',
    ],
    ...[
      'instance-data',
      'rancher-metadata',
      'x.internal',
      'printer.local',
      'kubernetes.default.svc',
      'a.localdomain',
      'router.home.arpa',
      'home.arpa',
    ],
    ...['a..b', '.a', '..'],
  ])('%s is denied', (name) => {
    expect(checkUrl(`https://${name}/`, policy)).toMatchObject({ ok: false });
  });

  test.each([
    'localhost.example',
    'metadata.example',
    'notlocalhost',
    'my-metadata',
    'svc.example',
    'xn--bcher-kva.example',
    'a_b.example',
    'internal.example',
  ])('%s is allowed', (name) => {
    expect(checkUrl(`https://${name}/`, policy)).toMatchObject({ ok: true, url: { hostname: name } });
  });

  test('isOrdinaryName is never true for a denied name', () => {
    const label = fc.constantFrom(
      'localhost',
      'metadata',
      'google',
      'internal',
      'goog',
      'svc',
      'local',
      'arpa',
      'home',
      'a',
      '1',
      '0x1',
      '',
      'com',
      'x-',
      '[',
      ':',
    );
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 4 }), (labels) => {
        const name = labels.join('.');
        if (!isOrdinaryName(name, policy)) return;
        expect([name, isDeniedName(name, policy)]).toEqual([name, false]);
        expect(parseAddress(name)).toBeUndefined();
        expect(name).not.toMatch(/^\.|\.\.|\.$|[[\]:]|(?:^|\.)[0-9]+$/);
      }),
      { numRuns: 5000 },
    );
  });

  test('denyNames denies names and suffixes', () => {
    const under = egressPolicy({ denyNames: ['Intranet.example.', '*.corp.example'] });
    const ok = (host: string) => checkUrl(`https://${host}/`, under).ok;
    expect(['intranet.example', 'INTRANET.example.', 'a.corp.example', 'a.b.corp.example'].map(ok)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(['www.intranet.example', 'corp.example', 'notcorp.example'].map(ok)).toEqual([true, true, true]);
  });
});

describe('ports', () => {
  test('only the ports of allowPorts are allowed', () => {
    const under = egressPolicy({ allowPorts: [443, 8443] });
    const reason = (url: string) => {
      const check = checkUrl(url, under);
      return check.ok ? 'ok' : check.reason;
    };
    expect(
      ['https://a.example/', 'https://a.example:8443/', 'https://a.example:22/', 'https://8.8.8.8:25/'].map(reason),
    ).toEqual(['ok', 'ok', 'port_not_allowed', 'port_not_allowed']);
  });
});

describe('egressPolicy throws for', () => {
  test.each([
    [{ allowLoopbacks: true }, /^egressPolicy: unknown option allowLoopbacks\. Did you mean allowLoopback\?/],
    [{ allowLoopback: [0] }, /0 is not a port/],
    [{ allowPorts: [70_000] }, /70000 is not a port/],
    [{ denyCidrs: ['10.0.0.1/8'] }, /"10.0.0.1\/8" is not a block/],
    [{ denyNames: ['a..b'] }, /"a..b" is not a host name/],
    [{ denyNames: ['*'] }, /not a host name/],
    [{ translated: 'yes' }, /"yes" is neither/],
  ])('%j', (options, problem) => {
    expect(() => egressPolicy(options as object)).toThrow(problem);
  });
});

test('checkUrl returns an https URL or a known rejection for any text', () => {
  const reasons = new Set([
    'malformed_url',
    'url_too_long',
    'scheme_not_https',
    'credentials_in_url',
    'port_not_allowed',
    'host_not_allowed',
  ]);
  const text = fc.oneof(
    fc.webUrl(),
    fc.string({ unit: 'binary' }),
    fc.string().map((rest) => `https://${rest}`),
    fc.constant(`https://${'a.'.repeat(900)}`),
  );
  fc.assert(
    fc.property(text, (given) => {
      const check = checkUrl(given, policy);
      if (check.ok) {
        const { protocol, origin, hash, href } = new URL(check.url.href);
        expect(protocol).toBe('https:');
        expect(origin + requestTarget(check.url) + hash).toBe(hash === '' ? href.replace(/#$/, '') : href);
      } else expect(reasons.has(check.reason)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
