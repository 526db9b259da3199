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
      ['192.0.2.9:4711', '192.0.2.9'],
      ['192.0.2.9:4711, 10.0.0.2:443', '192.0.2.9'],
      ['[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
      ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
      ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
      ['::ffff:192.0.2.9', '192.0.2.9'],
      ['192.0.2.9, ::ffff:10.0.0.2', '192.0.2.9'],
      ['192.0.2.9:65536', '10.0.0.1'],
      ['192.0.2.9:', '10.0.0.1'],
      ['192.0.2.9:4711:1', '10.0.0.1'],
      ['[192.0.2.9]', '10.0.0.1'],
      ['[2001:db8::9', '10.0.0.1'],
      ['2001:db8::9]:1', '10.0.0.1'],
      ['300.0.2.9:80', '10.0.0.1'],
      ['192.0.2.9, unknown', '10.0.0.1'],
      ['192.0.2.9, unknown, 10.0.0.2', '10.0.0.1'],
    ])('takes the last untrusted address of %j as the client', (header, key) => {
      expect(proxied({ headers: { 'x-forwarded-for': header }, peer: { address: '10.0.0.1' } })).toBe(key);
    });

    test('trusts a proxy whose connection names it by its mapped address', () => {
      const headers = { 'x-forwarded-for': '192.0.2.9' };
      expect(proxied({ headers, peer: { address: '::ffff:10.0.0.1' } })).toBe('192.0.2.9');
    });

    const forwarded = clientAddress({ isTrustedPeer: (address) => address.startsWith('10.'), header: 'forwarded' });
    test.each([
      ['for=192.0.2.9', '192.0.2.9'],
      ['For=192.0.2.9;proto=https;by=203.0.113.43', '192.0.2.9'],
      ['proto=https; for="192.0.2.9:4711"', '192.0.2.9'],
      ['for=192.0.2.8, for=192.0.2.9', '192.0.2.9'],
      ['for=192.0.2.9, for="10.0.0.2:443"', '192.0.2.9'],
      ['for="[2001:db8:1:2::9]"', '2001:db8:1:2::/64'],
      ['for="[2001:db8:1:2::9]:4711"', '2001:db8:1:2::/64'],
      ['for="[2001:db8:1:2::9]:_port"', '2001:db8:1:2::/64'],
      ['for="\\192.0.2.9"', '192.0.2.9'],
      ['for=192.0.2.9;host="a, for=192.0.2.8"', '192.0.2.9'],
      [', for=192.0.2.9 ,,', '192.0.2.9'],
      ['for=192.0.2.9, for=unknown', '10.0.0.1'],
      ['for=192.0.2.9, for=_hidden', '10.0.0.1'],
      ['for=192.0.2.9, proto=https', '10.0.0.1'],
      ['for=192.0.2.9;for=192.0.2.8', '10.0.0.1'],
      ['for=2001:db8::9', '10.0.0.1'],
      ['for="2001:db8::9"', '10.0.0.1'],
      ['x=", for=192.0.2.9', '10.0.0.1'],
      ['192.0.2.9', '10.0.0.1'],
      ['for = 192.0.2.9', '10.0.0.1'],
      ['', '10.0.0.1'],
    ])('reads %j of the header Forwarded', (header, key) => {
      expect(forwarded({ headers: { forwarded: header }, peer: { address: '10.0.0.1' } })).toBe(key);
    });

    test('reads one header, never both', () => {
      const headers = { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=198.51.100.7' };
      const peer = { address: '10.0.0.1' };
      expect([proxied({ headers, peer }), forwarded({ headers, peer })]).toEqual(['192.0.2.9', '198.51.100.7']);
      expect(forwarded({ headers: { 'x-forwarded-for': '192.0.2.9' }, peer })).toBe('10.0.0.1');
    });

    test.each([
      [1, '10.0.0.2'],
      [2, '10.0.0.9'],
      [3, '192.0.2.9'],
      [9, '192.0.2.9'],
    ])('trusts at most %i proxies in a row', (hops, key) => {
      const clientOf = clientAddress({ isTrustedPeer: (address) => address.startsWith('10.'), hops });
      const headers = { 'x-forwarded-for': '192.0.2.9, 10.0.0.9, 10.0.0.2' };
      expect(clientOf({ headers, peer: { address: '10.0.0.1' } })).toBe(key);
    });

    test.each(['{"hops":0}', '{"hops":1.5}', '{"hops":"2"}', '{"header":"x-real-ip"}'])(
      'rejects the option %s',
      (json) => {
        expect(() => clientAddress(JSON.parse(json))).toThrow(/^clientAddress: (hops|header) must be /);
      },
    );

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
