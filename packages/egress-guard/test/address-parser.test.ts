import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '../src/index.ts';

/** The bytes that our parser reads, as hexadecimal; undefined when it refuses. */
function ours(text: string): string | undefined {
  const address = parseAddress(text);
  return address === undefined ? undefined : Buffer.from(address).toString('hex');
}

/** The bytes that ipaddr.js reads, as hexadecimal; undefined when it refuses. */
function theirs(text: string): string | undefined {
  return ipaddr.isValid(text) ? Buffer.from(ipaddr.parse(text).toByteArray()).toString('hex') : undefined;
}

/** Either letter case for each letter of a text, by the bits of a number. */
function mixedCase(text: string, bits: number): string {
  return [...text].map((one, index) => ((bits >> (index % 30)) & 1 ? one.toUpperCase() : one)).join('');
}

const dotted = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).map((parts) => parts.join('.'));

/** Groups that are often zero, so that `::` has runs to stand for, with up to four digits. */
const group = fc
  .tuple(fc.oneof(fc.constant(0), fc.nat(0xffff)), fc.integer({ min: 1, max: 4 }))
  .map(([value, width]) => value.toString(16).padStart(width, '0'));

/**
 * Every spelling of RFC 4291, 2.2: full, compressed at any run of zeros, with an IPv4 address at the end, in any letter
 * case.
 */
const ipv6 = fc
  .tuple(
    fc.array(group, { minLength: 8, maxLength: 8 }),
    fc.option(dotted, { nil: undefined }),
    fc.nat(7),
    fc.integer({ min: 1, max: 8 }),
    fc.boolean(),
    fc.nat(),
  )
  .map(([groups, tail, from, length, isCompressed, bits]) => {
    const written = tail === undefined ? groups : [...groups.slice(0, 6), tail];
    const hexadecimal = tail === undefined ? 8 : 6;
    const to = Math.min(from + length, hexadecimal);
    if (!isCompressed || from >= hexadecimal) return mixedCase(written.join(':'), bits);
    return mixedCase(`${written.slice(0, from).join(':')}::${written.slice(to).join(':')}`, bits);
  });

/** `::` directly before the IPv4 address, which ipaddr.js takes for `::ffff:`. See the table of differences. */
const COMPATIBLE = /^::\d+\.\d+\.\d+\.\d+(?:%.*)?$/;

describe('parseAddress and ipaddr.js', () => {
  test('read the same bytes from every valid spelling of IPv4', () => {
    fc.assert(
      fc.property(dotted, (text) => {
        expect(ours(text)).toBeDefined();
        expect([text, ours(text)]).toEqual([text, theirs(text)]);
      }),
      { numRuns: 2000 },
    );
  });

  test('read the same bytes from every valid spelling of IPv6', () => {
    fc.assert(
      fc.property(
        ipv6.filter((text) => !COMPATIBLE.test(text)),
        (text) => {
          expect([text, ours(text)]).not.toEqual([text, undefined]);
          expect([text, ours(text)]).toEqual([text, theirs(text)]);
        },
      ),
      { numRuns: 5000 },
    );
  });

  test('read the same bytes wherever both accept, and ours accepts no text that ipaddr.js refuses', () => {
    const piece = fc.constantFrom(
      ...[
        '0',
        '1',
        '8',
        '01',
        '08',
        '010',
        '255',
        '256',
        '0x7f',
        'ff',
        'FFFF',
        '00001',
        'g',
        '.',
        '.',
        ':',
        '::',
        '%1',
        ' ',
      ],
    );
    const noise = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.oneof(dotted, ipv6, fc.constant('')), noise, fc.nat(40), fc.nat(3), (text, put, at, drop) => {
        const changed = text.slice(0, at) + put + text.slice(at + drop);
        if (COMPATIBLE.test(changed) || ours(changed) === undefined) return;
        expect([changed, ours(changed)]).toEqual([changed, theirs(changed)]);
      }),
      { numRuns: 10_000 },
    );
  });

  // By design: a text that two readers of the field read differently is no plain address.
  test.each([
    ['octal parts', '0177.0.0.1', undefined, '7f000001'],
    ['one octal number', '017700000001', undefined, '7f000001'],
    ['hexadecimal parts', '0x7f.0.0.1', undefined, '7f000001'],
    ['one hexadecimal number', '0x7f000001', undefined, '7f000001'],
    ['one decimal number', '2130706433', undefined, '7f000001'],
    ['two parts', '127.1', undefined, '7f000001'],
    ['three parts', '127.0.1', undefined, '7f000001'],
    [
      'a leading zero in the IPv4 part, read as decimal',
      '::ffff:010.0.0.1',
      undefined,
      `${'0'.repeat(20)}ffff0a000001`,
    ],
    ['a hexadecimal part in the IPv4 part', '::ffff:0x0a.0.0.1', undefined, `${'0'.repeat(20)}ffff0a000001`],
    ['a zone', 'fe80::1%eth0', undefined, `fe80${'0'.repeat(27)}1`],
    [
      'an IPv4-compatible address, read as mapped',
      '::1.2.3.4',
      `${'0'.repeat(24)}01020304`,
      `${'0'.repeat(20)}ffff01020304`,
    ],
  ])('differ in %s: %s', (_difference, text, our, their) => {
    expect(ours(text)).toBe(our);
    expect(theirs(text)).toBe(their);
  });
});
