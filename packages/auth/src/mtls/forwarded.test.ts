import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type ForwardedFormat, forwardedCertificate } from './forwarded.ts';

const BYTES = Uint8Array.of(0x30, 0x03, 0x02, 0x01, 0xff);
const BASE64 = Buffer.from(BYTES).toString('base64');
const HASH = createHash('sha256').update(BYTES).digest();
const FOUND = { der: BYTES, thumbprint: HASH.toString('base64url') };
const block = (base64: string) => `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
const escaped = (text: string) => encodeURIComponent(text);
const xfcc = (base64: string) => `Cert="${escaped(block(base64))}"`;

/** A certificate in each format. */
const WRITTEN: readonly [ForwardedFormat, (base64: string) => string][] = [
  ['rfc9440', (base64) => `:${base64}:`],
  ['pem', (base64) => escaped(block(base64))],
  ['xfcc', xfcc],
];

describe('forwardedCertificate', () => {
  test.each(WRITTEN)('reads certificates of every length: %s', (format, write) => {
    for (const length of [1, 2, 3, 4, 5, 6, 7]) {
      const der = Uint8Array.from({ length }, (_, index) => 255 - index);
      expect(forwardedCertificate(write(Buffer.from(der).toString('base64')), format)?.der).toEqual(der);
    }
  });

  test.each(WRITTEN)('reads the bytes and the thumbprint: %s', (format, write) => {
    expect(forwardedCertificate(write(BASE64), format)).toEqual(FOUND);
  });

  test.each(WRITTEN)('refuses what is no certificate: %s', (format, write) => {
    const texts = ['', '\n', '=', '==', 'MII', 'MIIB=', 'MI==MIIB', 'MII-', 'MIIB\u0000', `${BASE64}=`, `x${BASE64}`];
    for (const base64 of texts) expect(forwardedCertificate(write(base64), format), base64).toBeUndefined();
  });

  test.each(WRITTEN)('reads at most 16 384 characters: %s', (format, write) => {
    const longest = (total: number) => write('A'.repeat(4 * Math.floor((total - write('').length) / 4)));
    expect(forwardedCertificate(longest(16_384), format)).toBeDefined();
    expect(forwardedCertificate(longest(16_388), format)).toBeUndefined();
  });

  describe('rfc9440', () => {
    test.each([BASE64, `:${BASE64}`, `${BASE64}:`, ` :${BASE64}:`, `:${BASE64}: `, `:${BASE64}:, :${BASE64}:`])(
      'is one byte sequence and nothing else: %o',
      (value) => {
        expect(forwardedCertificate(value, 'rfc9440')).toBeUndefined();
      },
    );
  });

  describe('pem', () => {
    test.each([
      ['spaces for line ends', block(BASE64).replaceAll('\n', ' ')],
      ['tabs for line ends', block(BASE64).replaceAll('\n', '\t')],
      ['line ends of Windows', block(BASE64).replaceAll('\n', '\r\n')],
      ['white space around it', `\n  ${block(BASE64)}  \n`],
      ['lines of four characters', block(BASE64.replace(/(.{4})/g, '$1\n'))],
    ])('may have %s', (_name, text) => {
      expect(forwardedCertificate(escaped(text), 'pem')).toEqual(FOUND);
    });

    test.each([
      ['two blocks', block(BASE64) + block(BASE64)],
      ['a key', block(BASE64).replaceAll('CERTIFICATE', 'PRIVATE KEY')],
      ['text before it', `x${block(BASE64)}`],
      ['text behind it', `${block(BASE64)}x`],
      ['the bytes alone', BASE64],
      ['an empty text', ''],
    ])('is not %s', (_name, text) => {
      expect(forwardedCertificate(escaped(text), 'pem')).toBeUndefined();
    });

    test('needs valid percent-encoding', () => {
      expect(forwardedCertificate(`${escaped(block(BASE64))}%`, 'pem')).toBeUndefined();
      expect(forwardedCertificate('%E0%A4%A', 'pem')).toBeUndefined();
    });
  });

  describe('xfcc', () => {
    const hash = HASH.toString('hex');

    test.each([
      ['fields around it', `By=spiffe://acme/host;${xfcc(BASE64)};Subject="CN=\\"a, b; c\\"";URI=spiffe://acme/agent`],
      ['a key in other letters', xfcc(BASE64).replace('Cert', 'cERT')],
      ['a semicolon at the end', `${xfcc(BASE64)};`],
      ['repeated URI and DNS fields', `URI=a;URI=b;DNS=c;dns=d;${xfcc(BASE64)}`],
      ['the hash of the certificate', `Hash=${hash};${xfcc(BASE64)}`],
      ['the hash in capitals', `Hash=${hash.toUpperCase()};${xfcc(BASE64)}`],
      ['a value without quotation marks', `Cert=${escaped(block(BASE64))}`],
      ['an escaped character in its value', `Cert="${escaped(block(BASE64)).replace('B', '\\B')}"`],
    ])('may have %s', (_name, value) => {
      expect(forwardedCertificate(value, 'xfcc')).toEqual(FOUND);
    });

    test('is a thumbprint when the terminator sends the hash alone', () => {
      const found = { thumbprint: FOUND.thumbprint, der: undefined };
      expect(forwardedCertificate(`Hash=${hash}`, 'xfcc')).toEqual(found);
      expect(forwardedCertificate(`Hash="${hash.toUpperCase()}";URI=spiffe://acme/agent`, 'xfcc')).toEqual(found);
    });

    test.each([
      ['a hash of another certificate', `Hash=${'0'.repeat(64)};${xfcc(BASE64)}`],
      ['a hash that is none, beside a certificate', `Hash=;${xfcc(BASE64)}`],
      ['a certificate that is none, beside a hash', `Hash=${hash};Cert=""`],
      ['a hash of 63 digits', `Hash=${hash.slice(1)}`],
      ['a hash of 65 digits', `Hash=${hash}0`],
      ['a hash with a character before it', `Hash=x${hash}`],
      ['a hash with another letter', `Hash=${hash.slice(1)}g`],
      ['no hash and no certificate', 'URI=spiffe://acme/agent'],
      ['two certificates', `${xfcc(BASE64)};${xfcc(BASE64)}`],
      ['two hashes', `Hash=${hash};Hash=${hash}`],
      ['two hashes in other letters', `Hash=${hash};HASH=${hash}`],
      ['text of no field behind it', `Hash=${hash};x`],
      ['two elements', `${xfcc(BASE64)},${xfcc(BASE64)}`],
      ['a field without a key', `=x;${xfcc(BASE64)}`],
      ['a key that is no word', `1=x;${xfcc(BASE64)}`],
      ['no semicolon between fields', `URI="a"${xfcc(BASE64)}`],
      ['characters of no field before it', `!!!!!!!URI=";Hash="${hash}"`],
      ['a semicolon before it', `;${xfcc(BASE64)}`],
      ['two semicolons', `URI=a;;${xfcc(BASE64)}`],
      ['a space behind a semicolon', `URI=a; ${xfcc(BASE64)}`],
      ['text behind a quoted value', `${xfcc(BASE64)}x`],
      ['a quotation mark that is not closed', xfcc(BASE64).slice(0, -1)],
      ['an escaped quotation mark at the end', `${xfcc(BASE64).slice(0, -1)}\\"`],
      ['broken percent-encoding', 'Cert="%E0%A4%A"'],
      ['nothing', ''],
    ])('is refused with %s', (_name, value) => {
      expect(forwardedCertificate(value, 'xfcc')).toBeUndefined();
    });
  });
});
