import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dottedForm, groupsOf } from './address-groups.ts';

describe('groupsOf', () => {
  test.each([
    ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
    ['::1', [0, 0, 0, 0, 0, 0, 0, 1]],
    ['1::', [1, 0, 0, 0, 0, 0, 0, 0]],
    ['1:2:3:4:5:6:7:8', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['2001:DB8::ffff', [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0xffff]],
    ['1:2::7:8', [1, 2, 0, 0, 0, 0, 7, 8]],
    ['1:2:3:4:5:6:7::', [1, 2, 3, 4, 5, 6, 7, 0]],
    ['::2:3:4:5:6:7:8', [0, 2, 3, 4, 5, 6, 7, 8]],
    ['192.0.2.255', [0, 0, 0, 0, 0, 0xffff, 0xc000, 0x02ff]],
    ['::ffff:192.0.2.1', [0, 0, 0, 0, 0, 0xffff, 0xc000, 0x0201]],
    ['::192.0.2.1', [0, 0, 0, 0, 0, 0, 0xc000, 0x0201]],
    ['64:ff9b::10.1.2.3', [0x64, 0xff9b, 0, 0, 0, 0, 0x0a01, 0x0203]],
    ['1:2:3:4:5:6:10.1.2.3', [1, 2, 3, 4, 5, 6, 0x0a01, 0x0203]],
    ['fe80::1%eth0', [0xfe80, 0, 0, 0, 0, 0, 0, 1]],
    ['fe80::1%', [0xfe80, 0, 0, 0, 0, 0, 0, 1]],
    ['10.0.0.1%1', [0, 0, 0, 0, 0, 0xffff, 0x0a00, 1]],
  ])('of %s', (address, groups) => {
    expect(groupsOf(address)).toEqual(groups);
  });

  test.each([
    '',
    '%eth0',
    '1',
    ':',
    ':1',
    '1:',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4::5:6:7:8',
    '12345::',
    'g::',
    '::-1',
    '10.0.0',
    '10.0.0.0.0',
    '10.0.0.256',
    '256.0.0.1',
    '10.0.0.1000',
    '10.0.0.1x',
    'x10.0.0.1',
    '1:10.0.0.1',
    '1:2:3:4:5:6:7:10.0.0.1',
    '10.0.0.1::',
    '10.0.0.1:80',
    '[::1]',
    '::1\n',
    ' ::1',
    '1.2.3.4\n',
    `::${'0'.repeat(44)}`,
  ])('%j has none', (address) => {
    expect(groupsOf(address)).toBeUndefined();
  });

  test('reads the addresses that Node reads, and no others', () => {
    const text = fc.oneof(
      fc.stringMatching(/^[0-9a-f:.]{1,20}$/),
      fc
        .array(fc.constantFrom(':', '::', '1', 'ffff', '.', '10', '0'), { maxLength: 16 })
        .map((parts) => parts.join('')),
      fc.ipV6(),
      fc.ipV4(),
    );
    fc.assert(
      fc.property(text, (address) => {
        // Node refuses zeros before the digits of an IPv4 address, which some proxies write.
        fc.pre(!/(?:^|[.:])0\d+\.|\.0\d+/.test(address));
        expect(groupsOf(address) !== undefined).toBe(isIP(address) !== 0);
      }),
      { numRuns: 500 },
    );
  });
});

describe('dottedForm', () => {
  test('is that of an IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(dottedForm(groupsOf(address) ?? [])).toBe(address);
        expect(dottedForm(groupsOf(`::ffff:${address}`) ?? [])).toBe(address);
      }),
    );
  });

  test.each(['::', '::1', '::192.0.2.1', '1::ffff:192.0.2.1', '64:ff9b::192.0.2.1', 'ffff::'])(
    '%s has none',
    (address) => {
      expect(dottedForm(groupsOf(address) ?? [])).toBeUndefined();
    },
  );
});
