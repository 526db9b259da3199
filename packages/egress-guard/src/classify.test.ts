import { describe, expect, test } from 'vitest';
import { parseAddress } from './address.ts';
import { checkAddress, isLoopback } from './classify.ts';
import { type EgressPolicyOptions, egressPolicy } from './policy.ts';

/** The range for which an address is denied; undefined when it may be called. */
function rangeOf(text: string, options: EgressPolicyOptions = {}, port?: number): string | undefined {
  const verdict = checkAddress(text, egressPolicy(options), port);
  return verdict.allowed ? undefined : verdict.range;
}

describe('checkAddress', () => {
  test('denies the special ranges, and no public address', () => {
    const addresses = ['8.8.8.8', '2606:4700::1', '10.0.0.1', '::ffff:10.0.0.1', '127.0.0.1', '::1', '169.254.169.254'];
    expect(addresses.map((text) => rangeOf(text))).toEqual([
      undefined,
      undefined,
      ...['private', 'private', 'loopback', 'loopback', 'link-local'],
    ]);
  });

  test.each(['', 'example.com', '010.0.0.1', '1.2.3', '[::1]', '8.8.8.8 '])(
    'denies %j, which is no address',
    (text) => {
      expect(rangeOf(text, { allowCidrs: ['0.0.0.0/0', '::/0'] })).toBe('not-an-address');
    },
  );

  test('the denials of the operator come first', () => {
    const options = { denyCidrs: ['8.8.8.0/24', '10.0.0.0/8'], allowCidrs: ['10.0.0.0/8'] };
    expect(rangeOf('8.8.8.8', options)).toBe('operator');
    expect(rangeOf('::ffff:8.8.8.8', options), 'in its mapped form').toBe('operator');
    expect(rangeOf('10.1.2.3', options)).toBe('operator');
    expect(rangeOf('8.8.9.1', options)).toBeUndefined();
    expect(rangeOf('127.0.0.1', { denyCidrs: ['127.0.0.0/8'], allowLoopback: true })).toBe('operator');
  });

  test('the permissions of the operator open special ranges', () => {
    const options = { allowCidrs: ['10.1.0.0/16', 'fd00::/8'] };
    expect(rangeOf('10.1.2.3', options)).toBeUndefined();
    expect(rangeOf('::ffff:10.1.2.3', options)).toBeUndefined();
    expect(rangeOf('fd00::1', options)).toBeUndefined();
    expect(rangeOf('10.2.0.1', options)).toBe('private');
  });

  test('its switch alone opens loopback, for all ports or for some', () => {
    expect(rangeOf('127.0.0.1', { allowCidrs: ['127.0.0.0/8'] })).toBe('loopback');
    expect(rangeOf('127.0.0.1', { allowLoopback: true })).toBeUndefined();
    expect(rangeOf('::1', { allowLoopback: [8080] }, 8080)).toBeUndefined();
    expect(rangeOf('::1', { allowLoopback: [8080] }, 8081)).toBe('loopback');
    expect(rangeOf('::1', { allowLoopback: [443] }), 'the default port is 443').toBeUndefined();
    expect(rangeOf('10.0.0.1', { allowLoopback: true })).toBe('private');
  });

  describe('an address that a gateway translates', () => {
    const judged: EgressPolicyOptions = { translated: 'judge' };

    test('is denied by default', () => {
      expect([rangeOf('64:ff9b::808:808'), rangeOf('2002:808:808::')]).toEqual(['nat64', '6to4']);
    });

    test('is judged as the address inside when the operator asks for it', () => {
      expect([rangeOf('64:ff9b::808:808', judged), rangeOf('2002:808:808::', judged)]).toEqual([undefined, undefined]);
      expect([rangeOf('64:ff9b::a00:1', judged), rangeOf('2002:a00:1::', judged)]).toEqual(['nat64', '6to4']);
      expect(rangeOf('64:ff9b::a00:1', { ...judged, allowCidrs: ['10.0.0.0/8'] })).toBeUndefined();
      expect(rangeOf('64:ff9b::808:808', { ...judged, denyCidrs: ['8.8.8.8/32'] })).toBe('nat64');
    });

    test('is never loopback, which would be that of the gateway', () => {
      const open: EgressPolicyOptions = { ...judged, allowLoopback: true };
      expect([rangeOf('64:ff9b::7f00:1', open), rangeOf('2002:7f00:1::', open)]).toEqual(['nat64', '6to4']);
    });

    test('does not open the other special ranges', () => {
      expect([rangeOf('fd00::1', judged), rangeOf('fe80::1', judged)]).toEqual(['unique-local', 'link-local']);
    });
  });
});

test.each([
  ['127.0.0.1', true],
  ['127.255.255.255', true],
  ['::ffff:127.0.0.1', true],
  ['::1', true],
  ['::2', false],
  ['128.0.0.1', false],
  ['10.0.0.1', false],
  ['8.8.8.8', false],
])('whether %s is loopback: %s', (text, expected) => {
  expect(isLoopback(parseAddress(text) ?? new Uint8Array())).toBe(expected);
});
