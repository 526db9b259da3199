import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { egressPolicy, inCidr, parseAddress, parseCidr } from '../src/index.ts';
import { numberOf, textOf } from './oracle.ts';

describe('parseCidr', () => {
  test.each([
    ['10.0.0.0/8', [10, 0, 0, 0], 8],
    ['0.0.0.0/0', [0, 0, 0, 0], 0],
    ['192.0.2.1/32', [192, 0, 2, 1], 32],
    ['198.51.100.128/25', [198, 51, 100, 128], 25],
    ['::/0', new Array(16).fill(0), 0],
    ['FD00::/8', [0xfd, ...new Array(15).fill(0)], 8],
    ['::ffff:10.0.0.0/104', [...new Array(10).fill(0), 255, 255, 10, 0, 0, 0], 104],
    ['64:ff9b::192.0.2.0/120', [0, 0x64, 0xff, 0x9b, ...new Array(8).fill(0), 192, 0, 2, 0], 120],
    ['0::192.0.2.1/128', [...new Array(12).fill(0), 192, 0, 2, 1], 128],
  ])('reads %s', (text, bytes, bits) => {
    expect(parseCidr(text)).toEqual({ base: Uint8Array.from(bytes), bits });
  });

  test.each([
    ['without a prefix', '10.0.0.0'],
    ['with an empty prefix', '10.0.0.0/'],
    ['with two prefixes', '10.0.0.0/8/8'],
    ['with a prefix that is a mask', '10.0.0.0/255.0.0.0'],
    ['with a prefix with a leading zero', '10.0.0.0/08'],
    ['with a prefix with a sign', '10.0.0.0/+8'],
    ['with a prefix with a fraction', '10.0.0.0/8.0'],
    ['with a prefix outside ASCII', '10.0.0.0/٨'],
    ['with a prefix over 32', '10.0.0.0/33'],
    ['with a prefix over 128', '::/129'],
    ['with a bit behind the prefix', '10.0.0.1/8'],
    ['with a bit behind the prefix, IPv6', 'fd00::1/8'],
    ['with a bit directly behind the prefix', '192.0.2.64/25'],
    ['without an address', '/8'],
    ['with a name', 'intranet.example/8'],
    ['with brackets', '[fd00::]/8'],
    ['with a space before it', ' 10.0.0.0/8'],
    ['with a space behind it', '10.0.0.0/8 '],
    ['with a space before the slash', '10.0.0.0 /8'],
    ['with a newline behind it', '10.0.0.0/8\n'],
    ['with a hexadecimal part', '0x7f.0.0.0/8'],
    ['with an octal part', '0177.0.0.0/8'],
    ['with one hexadecimal number', '0x7f000000/8'],
    ['with one decimal number', '2130706432/8'],
    ['with two parts', '127.0/8'],
    ['with a hexadecimal part and two parts', '0x7f.1/32'],
    ['with three parts', '127.0.0/8'],
    ['with a leading zero inside IPv6', '::ffff:010.0.0.0/104'],
    ['with a hexadecimal part inside IPv6', '::ffff:0x0a.0.0.0/104'],
    ['with a zone', 'fe80::%eth0/10'],
    ['with a zone behind the prefix', 'fe80::/10%eth0'],
    ['with a zone on a mapped address', '::ffff:10.0.0.0%1/104'],
    ['with a group of five digits', '0fd00::/8'],
    ['with nine groups', '1:2:3:4:5:6:7:8:0/128'],
    ['of an IPv4-compatible address, which ipaddr.js reads as mapped', '::192.0.2.1/128'],
  ])('refuses a block %s', (_case, text) => {
    expect(parseCidr(text)).toBeUndefined();
    expect(() => egressPolicy({ denyCidrs: [text] })).toThrow(/^denyCidrs: /);
    expect(() => egressPolicy({ allowCidrs: [text] })).toThrow(/^allowCidrs: /);
  });

  test('reads every block of plain text', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(32, 128),
        fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
        fc.nat(128),
        (width, noise, length) => {
          const bits = length % (width + 1);
          const behind = BigInt(width - bits);
          const text = textOf(((noise & ((1n << BigInt(width)) - 1n)) >> behind) << behind, width);
          const cidr = parseCidr(`${text}/${bits}`);
          expect(cidr).toEqual({ base: parseAddress(text), bits });
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('accepts no text outside its grammar', () => {
    const piece = fc.constantFrom(
      ...[
        '0',
        '1',
        '10',
        '010',
        '255',
        '256',
        '0x7f',
        'ff',
        'FFFF',
        '00001',
        '.',
        '.',
        ':',
        ':',
        '::',
        '%1',
        '/',
        ' ',
        '\n',
      ],
    );
    const noise = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(''));
    const block = fc.constantFrom('10.0.0.0/8', '192.0.2.1/32', '::/0', 'fd00::/8', '::ffff:10.0.0.0/104', '1:2::/32');
    fc.assert(
      fc.property(block, noise, fc.nat(20), fc.nat(3), (text, put, at, drop) => {
        const changed = text.slice(0, at) + put + text.slice(at + drop);
        const cidr = parseCidr(changed);
        if (cidr === undefined) return;
        const [address = '', length = '', ...rest] = changed.split('/');
        expect(rest).toEqual([]);
        expect(length).toBe(String(cidr.bits));
        expect(cidr.base).toEqual(parseAddress(address));
        const width = cidr.base.length * 8;
        const value = cidr.base.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
        expect(value & ((1n << BigInt(width - cidr.bits)) - 1n)).toBe(0n);
      }),
      { numRuns: 5000 },
    );
  });
});

test('inCidr agrees with ipaddr.js on IPv4 addresses near a block', () => {
  fc.assert(
    fc.property(
      fc.ipV4(),
      fc.nat(32),
      fc.nat(32),
      fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }),
      (text, bits, keep, noise) => {
        const { value } = numberOf(text);
        const base = (value >> BigInt(32 - bits)) << BigInt(32 - bits);
        const mask = (1n << BigInt(32 - keep)) - 1n;
        const near = textOf((base & ~mask) | (noise & mask), 32);
        const block = parseCidr(`${textOf(base, 32)}/${bits}`);
        const address = parseAddress(near);
        if (block === undefined || address === undefined) throw new Error('The texts are plain.');
        expect(inCidr(address, block)).toBe(ipaddr.IPv4.parse(near).match(ipaddr.IPv4.parse(textOf(base, 32)), bits));
      },
    ),
    { numRuns: 2000 },
  );
});
