import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { captureRules } from '../../src/host/capture-rules.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { attemptRecord } from '../../src/webhooks/attempt-result.ts';
import { captured, openedAnswer } from '../../src/webhooks/capture.ts';
import { sampleDelivery } from './samples.ts';

const box = secretBox(new Uint8Array(32).fill(1), systemRandom);
const RULES = { maxBytes: 100, retentionMs: 1000, headers: ['content-type', 'x-request-id'] };
const SIGNATURE = {
  'SVC-Signature': 'sha256=0123456789abcdef0123456789abcdef',
  'webhook-signature': 'v1,c2lnbmF0dXJlb2Y=',
  'SVC-Event-Type': 'run.completed',
  'webhook-id': 'dlv_01kahx3zr8p6t5v4w3x2y1z0ab',
};
const DELIVERY = '{"runId":"run_1","event":{"payload":{"salary":"1000"}}}';

interface Answer {
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isCut?: boolean;
  /** The signature of Standard Webhooks. */
  readonly signature?: string;
  /** The body of the delivery. */
  readonly delivery?: string;
}

/** Captures an answer, and opens it again. */
function shown({ body = '', headers = {}, isCut = false, ...given }: Answer, rules = RULES) {
  const { signature = SIGNATURE['webhook-signature'] } = given;
  const delivery = sampleDelivery({ body: new TextEncoder().encode(given.delivery ?? DELIVERY) });
  const verdict = { kind: 'answered', status: 500, retryAfter: undefined, durationMs: 1 } as const;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const failure = { headers, body: bytes, isCut };
  const attempt = attemptRecord(delivery, verdict, 77);
  const answer = captured(
    box,
    rules,
    { attempt, failure, signature: { ...SIGNATURE, 'webhook-signature': signature }, delivery },
    5000.5,
  );
  expect(answer).toMatchObject({ webhookId: 'whk_1', deliveryId: 'dlv_1', attempt: 1, at: 77, expiresAt: 6001 });
  return { ...openedAnswer(box, answer), answer };
}

describe('a captured answer', () => {
  test('has the chosen headers and the beginning of the body', () => {
    const headers = { 'content-type': 'text/plain', 'set-cookie': 'session=1', 'x-request-id': 'r'.repeat(300) };
    const { body, headers: kept, isCut } = shown({ body: 'no such table', headers });
    expect({ body, isCut }).toEqual({ body: 'no such table', isCut: false });
    expect(kept).toEqual({ 'content-type': 'text/plain', 'x-request-id': 'r'.repeat(256) });
    expect(shown({ body: 'x'.repeat(101) })).toMatchObject({ body: 'x'.repeat(100), isCut: true });
    expect(shown({ body: 'x', isCut: true })).toMatchObject({ isCut: true });
    expect(shown({ body: Uint8Array.of(0x61, 0xff, 0x62) }).body).toBe('a\ufffdb');
    expect(shown({ body: '\ufeffno such table' }).body).toBe('\ufeffno such table');
  });

  test('is encrypted, and opens at its own attempt alone', () => {
    const { answer } = shown({ body: 'no such table' });
    expect(Buffer.from(answer.sealed).includes('table')).toBe(false);
    for (const moved of [{ webhookId: 'whk_2' }, { deliveryId: 'dlv_2' }, { attempt: 2 }, { at: 78 }]) {
      expect(() => openedAnswer(box, { ...answer, ...moved })).toThrow();
    }
  });

  test.each([
    ['the signature of the request', `got ${SIGNATURE['SVC-Signature']}!`, 'got [redacted]!'],
    ['the hexadecimal part of it', 'got 0123456789abcdef0123456789abcdef!', 'got [redacted]!'],
    ['a signature of Standard Webhooks', 'expected v1,c2lnbmF0dXJlb2Y= here', 'expected [redacted] here'],
    ['a signing secret', 'used whsec_MfKQ9r8GKYqrTwjU', 'used [redacted]'],
    ['a bearer token', 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz', 'Authorization: [redacted]'],
    ['the payload', `cannot store ${DELIVERY}`, 'cannot store [redacted]'],
    ['the payload with the spaces of Python', DELIVERY.replaceAll(':', ': ').replaceAll(',', ', '), '[redacted]'],
    ['the payload as Python prints it', DELIVERY.replaceAll('"', "'").replaceAll(':', ': '), '[redacted]'],
    ['the indented payload', JSON.stringify(JSON.parse(DELIVERY), undefined, 2), '[redacted]'],
    ['the payload in a page', `<pre>${DELIVERY.replaceAll('"', '&quot;')}</pre>`, '<pre>[redacted]'],
    ['the payload in a page of Go', `<pre>${DELIVERY.replaceAll('"', '&#34;')}</pre>`, '<pre>[redacted]'],
    ['the payload in a URL', `/?body=${encodeURIComponent(DELIVERY)}`, '/?body=[redacted]'],
    [
      'the payload within JSON within JSON',
      JSON.stringify(JSON.stringify({ data: DELIVERY })),
      '"{\\"data\\":\\"[redacted]',
    ],
    ['a signature as PHP writes it', '"v1,c2ln\\/bmF0dXJl+b2Y="', '"[redacted]"', 'v1,c2ln/bmF0dXJl+b2Y='],
    ['a signature in a page', 'v1,c2ln/bmF0dXJl&#43;b2Y&#61;.', '[redacted].', 'v1,c2ln/bmF0dXJl+b2Y='],
    ['the payload within JSON', JSON.stringify({ data: DELIVERY }), '{"data":"[redacted]'],
  ])('does not repeat %s', (_title, body, expected, signature = SIGNATURE['webhook-signature']) => {
    expect(shown({ body, signature }).body).toBe(expected);
    expect(shown({ headers: { 'x-request-id': body.slice(0, 60) } }).headers['x-request-id']).not.toContain(
      'abcdef0123',
    );
  });

  test('has no beginning of a secret that the end of the reading divides', () => {
    // The redaction of the long one moves the other into the part that is shown.
    const read = `Bearer ${'a'.repeat(590)} ${SIGNATURE['SVC-Signature'].slice(0, 14)}`.padStart(612, ' ');
    expect(shown({ body: read, isCut: true }).body).not.toContain('sha256=');
    const token = `eyJhbGciOiJIUzI1NiJ9.${'c'.repeat(600)}`;
    expect(shown({ body: token.slice(0, 612), isCut: true }).body).not.toContain('eyJ');
    const page = `cannot store ${DELIVERY}`.padEnd(612, '.');
    expect(shown({ body: page, isCut: true }).body).toBe('cannot store [redacted]');
  });

  test('recognises a payload with a character that the cut of its beginning divides', () => {
    const own = '{"topics":"Übergrößeäs"}';
    expect(shown({ body: `<${own}>`, delivery: own }).body).toBe('<[redacted]');
  });

  test('is redacted in little time, for any content', () => {
    const worst = ['\\', '{', '{"', '{ ', '&#0', 'eyJaaaaaaaa.', 'sha256=', '%7B%22', '{\\n'];
    for (const part of worst) {
      const before = process.cpuUsage();
      shown({ body: part.repeat(Math.ceil(16_896 / part.length)) }, { ...RULES, maxBytes: 16_384 });
      expect(process.cpuUsage(before).user, part).toBeLessThan(2_000_000);
    }
  });

  test('repeats the type and the id of the delivery', () => {
    const body = 'run.completed of dlv_01kahx3zr8p6t5v4w3x2y1z0ab is unknown';
    expect(shown({ body }).body).toBe(body);
  });

  test('never has the signature or the payload, wherever an answer repeats them', () => {
    const part = fc.constantFrom(...Object.values(SIGNATURE), DELIVERY, JSON.stringify(DELIVERY), ' ', 'a', '{', '"');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.integer({ min: 1, max: 500 }), (parts, maxBytes) => {
        const { body } = shown({ body: parts.join('') }, { ...RULES, maxBytes });
        for (const secret of ['01234', 'c2lnb', 'runId']) expect(body).not.toContain(secret);
      }),
    );
  });
});

test('answers are captured by choice alone, within limits and without credentials', () => {
  expect(captureRules({})).toBeUndefined();
  expect(captureRules({ webhooks: {} })).toBeUndefined();
  expect(captureRules({ webhooks: { captureAnswers: {} } })).toMatchObject({
    maxBytes: 1024,
    retentionMs: 259_200_000,
  });
  expect(captureRules({ webhooks: { captureAnswers: { headers: ['X-Trace'] } } })?.headers).toEqual(['x-trace']);
  const refused = [
    { maxBytes: -1 },
    { maxBytes: 16_385 },
    { retentionHours: 0 },
    { headers: ['Set-Cookie'] },
    { headers: ['a b'] },
  ];
  for (const captureAnswers of refused) {
    expect(() => captureRules({ webhooks: { captureAnswers } })).toThrow(/^webhooks\.captureAnswers\./);
  }
});
