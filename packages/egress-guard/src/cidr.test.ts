import { describe, expect, test } from 'vitest';
import { parseAddress } from './address.ts';
import { inCidr, parseCidr } from './cidr.ts';

describe('parseCidr', () => {
  test.each([
    ['0.0.0.0/0', 4, 0],
    ['10.0.0.0/8', 4, 8],
    ['10.1.2.0/23', 4, 23],
    ['192.0.2.1/32', 4, 32],
    ['::/0', 16, 0],
    ['fd00::/8', 16, 8],
    ['2001:db8::/33', 16, 33],
    ['2001:db8::1/128', 16, 128],
  ])('reads %s', (text, bytes, bits) => {
    const [plain = ''] = text.split('/');
    expect(parseCidr(text)).toEqual({ base: parseAddress(plain), bits });
    expect(parseCidr(text)?.base).toHaveLength(bytes);
  });

  test.each([
    ...[
      '',
      '/',
      '/8',
      '10.0.0.0',
      '10.0.0.0/',
      '10.0.0.0/33',
      '10.0.0.0/-1',
      '10.0.0.0/08',
      '10.0.0.0/8/8',
      '10.0.0.0/8 ',
    ],
    ...['10.0.0.0/8.0', '10.0.0.0/x', '10.0.0.1/8', '10.1.3.0/23', '10/8', '010.0.0.0/8', '0xa.0.0.0/8', '10.0.0.0/ 8'],
    ...[
      '::/129',
      '::/',
      'fd00::1/8',
      '2001:db8::/32/1',
      'fe80::%1/64',
      '::192.0.2.1/128',
      'example.com/8',
      'fd00::/+8',
    ],
  ])('%j is no block', (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });
});

describe('inCidr', () => {
  test.each([
    ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255'], ['::', '::ffff:1.2.3.4']],
    ['10.0.0.0/8', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
    ['10.1.2.0/23', ['10.1.2.0', '10.1.3.255'], ['10.1.1.255', '10.1.4.0', '10.0.2.0', '11.1.2.0']],
    ['10.0.0.0/9', ['10.0.0.0', '10.127.255.255'], ['10.128.0.0']],
    ['128.0.0.0/1', ['128.0.0.0', '255.0.0.0'], ['127.255.255.255', '0.0.0.0']],
    ['192.0.2.1/32', ['192.0.2.1'], ['192.0.2.0', '192.0.2.2', '193.0.2.1']],
    ['192.0.2.2/31', ['192.0.2.2', '192.0.2.3'], ['192.0.2.1', '192.0.2.4']],
    ['fe80::/10', ['fe80::', 'febf::1'], ['fe7f::', 'fec0::', '10.0.0.1']],
    ['::1/128', ['::1'], ['::', '::2', '1::1', '0.0.0.1']],
    ['::/0', ['::', 'ffff::1'], ['0.0.0.0']],
  ])('%s has %j and not %j', (text, inside, outside) => {
    const block = parseCidr(text);
    if (block === undefined) throw new Error(`${text} is no block.`);
    const isIn = (address: string) => inCidr(parseAddress(address) ?? new Uint8Array(), block);
    for (const address of inside) expect(isIn(address), address).toBe(true);
    for (const address of outside) expect(isIn(address), address).toBe(false);
  });
});
