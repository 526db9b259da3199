import { describe, expect, test } from 'vitest';
import { HostError } from '../../errors.ts';
import { smtpFactsIn } from './smtp-facts.ts';

const HEADERS = {
  'SVC-Client-Address': '192.0.2.1',
  'SVC-Helo': 'mx.shop.example',
  'SVC-Mail-From': '<ada@shop.example>',
  'SVC-Rcpt-To': 'orders@svc.example.com',
};
const read = (changes: Record<string, string>) => smtpFactsIn(new Headers({ ...HEADERS, ...changes }));

describe('the facts of an SMTP session', () => {
  test('are read with and without angle brackets, and from percent-encoded UTF-8', () => {
    const rcptTo = '<orders@svc.example.com>, a%2Cb@svc.example.com,%C3%A4@svc.example.com';
    expect(
      read({ 'SVC-Rcpt-To': rcptTo, 'SVC-Client-Address': '2001:db8::1', 'SVC-Helo': '[IPv6:2001:db8::1]' }),
    ).toEqual({
      clientAddress: '2001:db8::1',
      helo: '[IPv6:2001:db8::1]',
      mailFrom: 'ada@shop.example',
      rcptTo: ['orders@svc.example.com', 'a,b@svc.example.com', 'ä@svc.example.com'],
    });
    expect(read({ 'SVC-Mail-From': '<>' }).mailFrom).toBe('');
  });

  test.each([
    ['SVC-Client-Address', ''],
    ['SVC-Client-Address', 'mx.shop.example'],
    ['SVC-Client-Address', '192.0.2.1, 192.0.2.2'],
    ['SVC-Helo', ''],
    ['SVC-Helo', 'mx shop'],
    ['SVC-Helo', 'mx%0d%0aX'],
    ['SVC-Mail-From', ''],
    ['SVC-Mail-From', 'ada'],
    ['SVC-Mail-From', 'ada@shop.example%0D%0ARCPT TO:<x>'],
    ['SVC-Mail-From', 'ada@shop.example%'],
    ['SVC-Mail-From', '<ada@shop.example>, <eve@evil.example>'],
    ['SVC-Rcpt-To', ''],
    ['SVC-Rcpt-To', '<>'],
    ['SVC-Rcpt-To', 'orders@svc.example.com,,x@y.example'],
    ['SVC-Rcpt-To', Array.from({ length: 101 }, (_, n) => `a${n}@b.example`).join(',')],
  ])('are refused with %s: %s', (name, value) => {
    let refusal: unknown;
    try {
      read({ [name]: value });
    } catch (error) {
      refusal = error;
    }
    expect(HostError.is(refusal) && refusal.code).toBe('validation_error');
    expect(JSON.stringify(refusal)).toContain(`header.${name}`);
  });
});
