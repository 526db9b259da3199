import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { framedEmail } from './framing.ts';
import { EmailRefused } from './refused.ts';

const FROM = 'From: ada@shop.example\r\n';
const framed = (text: string) => framedEmail(Buffer.from(text, 'latin1'));
const problemOf = (text: string) => {
  try {
    framed(text);
  } catch (error) {
    if (error instanceof EmailRefused) return `${error.reason}: ${error.problem}`;
    throw error;
  }
  return undefined;
};

describe('the header section of an email', () => {
  test.each<[string, string, string]>([
    ['none', '', 'no header field'],
    ['an empty line first', `\r\n${FROM}\r\nx`, 'no header field'],
    ['no From', 'Subject: x\r\n\r\nx', 'no header field from'],
    ['two From', `${FROM}FROM: eve@evil.example\r\n\r\nx`, 'from several times'],
    ['two Message-ID', `${FROM}Message-ID: <1@a>\r\nmessage-id: <2@a>\r\n\r\n`, 'message-id several times'],
    ['two Content-Type', `${FROM}Content-Type: a/b\r\nContent-Type: c/d\r\n\r\n`, 'content-type several times'],
    ['a name with white space before its colon', `${FROM}From : eve@evil.example\r\n\r\nx`, 'no header field'],
    ['a name with a mark before it', `\xef\xbb\xbf${FROM}\r\nx`, 'no header field'],
    ['a name with a hard space before it', `${FROM}\xa0From: eve@evil.example\r\n\r\nx`, 'no header field'],
    ['the line of a mailbox', `From ada Tue Jan 6\r\n${FROM}\r\nx`, 'no header field'],
    ['a continuation first', ` x\r\n${FROM}\r\nx`, 'no header field'],
    ['a bare return', `${FROM}Subject: a\rFrom: eve@evil.example\r\n\r\nx`, 'bare return'],
    ['an empty continuation', `Subject: a\r\n \r\n${FROM}\r\nx`, 'empty continuation'],
    ['NUL', `${FROM}Subject: a\0b\r\n\r\nx`, 'NUL'],
    ['NUL in its body', `${FROM}\r\n\0`, 'NUL'],
    ['too many fields', `${FROM}${'X-A: b\r\n'.repeat(300)}\r\nx`, 'over 300 header fields'],
    ['a field that is too long', `${FROM}X-A: ${'b'.repeat(16_400)}\r\n\r\nx`, 'over 16384 characters'],
    ['a From that is too long', `From: ${'a@b.example,'.repeat(200)}\r\n\r\nx`, 'over 2048 characters'],
    ['too many bytes', `${FROM}${`X-A: ${'b'.repeat(10_000)}\r\n`.repeat(7)}\r\nx`, 'over 65536 bytes'],
    ['too many bytes without an end', `${FROM}${'b'.repeat(70_000)}`, 'over 65536 bytes'],
    [
      'too many signatures',
      `${FROM}${'DKIM-Signature: v=1\r\n'.repeat(9)}\r\nx`,
      'over 8 header fields dkim-signature',
    ],
    ['too many parts', `${FROM}\r\n${'--b\r\n'.repeat(1001)}`, 'begin with two hyphens'],
    ['too many lines', `${FROM}\r\n${'\r\n'.repeat(12_000)}`, 'over 10000 lines'],
    ['too many lines of LF', `${FROM}\r\n${'\n'.repeat(12_000)}`, 'over 10000 lines'],
  ])('with %s is malformed', (_name, text, problem) => {
    expect(problemOf(text)).toMatch(/^malformed: /);
    expect(problemOf(text)).toContain(problem);
  });

  test('ends at the first empty line, and its body follows', () => {
    const { body, fields } = framed(`${FROM}Subject: a\r\n b\r\nReceived: x\r\nReceived: y\r\n\r\nFrom: x\r\n\r\n`);
    expect(Buffer.from(body).toString()).toBe('From: x\r\n\r\n');
    expect(Object.fromEntries(fields)).toEqual({ from: 1, subject: 1, received: 2 });
  });

  test('is read the same with the line ends of other machines', () => {
    const text = `${FROM}Subject: a\r\n\tb\r\n\r\nHello\r\n\r\nAda\r\n`;
    expect(framed(text.replaceAll('\r\n', '\n'))).toEqual(framed(text));
    expect(framed(FROM.trimEnd()).body).toHaveLength(0);
  });

  test('of any bytes is framed or refused, and a framed one keeps its lines', () => {
    const piece = fc.constantFrom('From: a@b.c', '\r\n', '\n', '\r', ' ', '\t', ':', 'X-A: b', '--b', '\0', 'é', '');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        if (problemOf(text) !== undefined) return;
        const { message, body, fields } = framed(text);
        const lines = Buffer.from(message).toString('latin1');
        expect(lines.replaceAll('\r\n', '\n')).toBe(
          Buffer.from(text, 'latin1').toString('latin1').replaceAll('\r\n', '\n'),
        );
        expect(/(?<!\r)\n/.test(lines)).toBe(false);
        expect(lines.endsWith(Buffer.from(body).toString('latin1'))).toBe(true);
        expect(fields.get('from')).toBe(1);
      }),
    );
  });
});
