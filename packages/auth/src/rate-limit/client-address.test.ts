import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { clientAddress } from './client-address.ts';

const of = clientAddress();

describe('clientAddress', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['not an address', 'not an address'],
    ['1:2:3', '1:2:3'],
    ['1::2::3', '1::2::3'],
    ['300.1.1.1', '300.1.1.1'],
  ])('%s counts as %s', (address, key) => {
    expect(of({ headers: {}, peer: { address } })).toBe(key);
  });

  test('returns undefined without an address', () => {
    expect(of({ headers: {} })).toBeUndefined();
    expect(of({ headers: {}, peer: {} })).toBeUndefined();
  });

  describe('behind proxies', () => {
    const proxied = clientAddress({ isTrustedPeer: (address) => address.startsWith('10.') });
    test.each([
      ['192.0.2.9', '192.0.2.9'],
      ['192.0.2.8, 192.0.2.9', '192.0.2.9'],
      ['192.0.2.8,192.0.2.9 , 10.0.0.2', '192.0.2.9'],
      ['nonsense', '10.0.0.1'],
      ['', '10.0.0.1'],
      ['10.0.0.3', '10.0.0.1'],
    ])('takes the last untrusted address of %j as the client', (header, key) => {
      expect(proxied({ headers: { 'x-forwarded-for': header }, peer: { address: '10.0.0.1' } })).toBe(key);
    });

    test('ignores the header of an untrusted peer', () => {
      const headers = { 'x-forwarded-for': '192.0.2.9' };
      expect(proxied({ headers, peer: { address: '198.51.100.1' } })).toBe('198.51.100.1');
      expect(of({ headers, peer: { address: '10.0.0.1' } })).toBe('10.0.0.1');
    });
  });
});

describe(covers('auth.rate-limit.per-key'), () => {
  test('counts different addresses separately', () => {
    expect(of({ headers: {}, peer: { address: '192.0.2.1' } })).not.toBe(
      of({ headers: {}, peer: { address: '192.0.2.2' } }),
    );
  });
});
