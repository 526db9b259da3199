import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prepareHmac as nodeHmac, sha256Hex as nodeSha256Hex } from '../src/hmac/node.ts';
import { prepareHmac as portableHmac, sha256Hex as portableSha256Hex } from '../src/hmac/portable.ts';
import { prepareHmac as workerdHmac } from '../src/hmac/workerd.ts';
import { HEADER_NAMES, type HeaderSource, signDelivery, Webhook, WebhookVerificationError } from '../src/index.ts';

const NOW = 1_700_000_000;
const BASE = { webhookId: 'whk_1', eventType: 'run.completed', timestamp: NOW, families: ['SVC'] } as const;
const { SVC } = HEADER_NAMES;

/** A secret as a host might issue it: any text without white space at its ends. */
const secrets = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() === text);
const bodies = fc.jsonValue().map((payload) =>
  JSON.stringify({
    runId: 'r',
    event: { type: BASE.eventType, runId: 'r', sequence: 1, timestamp: '2023-11-14T22:13:20Z', payload },
  }),
);

function outcomeOf(secret: string, body: Uint8Array | string, headers: HeaderSource): string {
  try {
    new Webhook(secret, { now: () => NOW * 1000 }).verify(body, headers);
    return 'accepted';
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
}

function flipped(text: string, bit: number): Uint8Array {
  const bytes = Buffer.from(text);
  const place = bit % (bytes.length * 8);
  bytes[place >> 3] = (bytes[place >> 3] ?? 0) ^ (1 << (place & 7));
  return bytes;
}

describe('a signed delivery verifies, and', () => {
  test('any changed bit of the body breaks it', () => {
    fc.assert(
      fc.property(secrets, bodies, fc.nat(), (secret, body, bit) => {
        const headers = signDelivery({ ...BASE, secret, body });
        expect(outcomeOf(secret, body, headers)).toBe('accepted');
        expect(outcomeOf(secret, flipped(body, bit), headers)).toBe('signature_mismatch');
      }),
    );
  });

  test('any changed bit of the secret breaks it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), bodies, fc.nat(), (key, body, bit) => {
        const secret = Buffer.from(key).toString('hex');
        const other = Buffer.from(flipped(secret, bit)).toString('latin1');
        fc.pre(other.trim() === other);
        expect(outcomeOf(other, body, signDelivery({ ...BASE, secret, body }))).toBe('signature_mismatch');
      }),
    );
  });

  test('any changed bit of the timestamp breaks it', () => {
    fc.assert(
      fc.property(secrets, bodies, fc.nat(), (secret, body, bit) => {
        const headers = signDelivery({ ...BASE, secret, body });
        const timestamp = Buffer.from(flipped(String(NOW), bit)).toString('latin1');
        expect(outcomeOf(secret, body, { ...headers, [SVC.timestamp]: timestamp })).not.toBe('accepted');
      }),
    );
  });

  test('any changed bit of the signature breaks it, except the case of a letter', () => {
    fc.assert(
      fc.property(secrets, bodies, fc.nat(), (secret, body, bit) => {
        const headers = signDelivery({ ...BASE, secret, body });
        const signature = headers[SVC.signature] ?? '';
        const changed = Buffer.from(flipped(signature, bit)).toString('latin1');
        const sameDigits = changed.startsWith('sha256=') && changed.toLowerCase() === signature;
        expect(outcomeOf(secret, body, { ...headers, [SVC.signature]: changed }) === 'accepted').toBe(sameDigits);
      }),
      { numRuns: 500 },
    );
  });

  test('text, bytes and joined chunks are the same body', () => {
    fc.assert(
      fc.property(secrets, bodies, fc.array(fc.nat()), (secret, body, cuts) => {
        const bytes = Buffer.from(body);
        const places = cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b);
        const chunks = [...places, bytes.length].map((end, index) => bytes.subarray(places[index - 1] ?? 0, end));
        const headers = signDelivery({ ...BASE, secret, body });
        expect(signDelivery({ ...BASE, secret, body: Buffer.concat(chunks) })).toEqual(headers);
        expect(outcomeOf(secret, Buffer.concat(chunks), headers)).toBe('accepted');
        expect(
          outcomeOf(secret, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as never, headers),
        ).toBe('accepted');
      }),
    );
  });
});

describe('any request is accepted, or rejected with our own error', () => {
  const secret = 'a secret of the tests';
  const body = '{"runId":"r"}';
  const good = signDelivery({ ...BASE, secret, body, families: ['SVC', 'X-svc'] });
  const values = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(...Object.values(good)),
    fc.constantFrom('', ',', ' , ', '\0', 'sha256=', '0'.repeat(10_000), 'a,'.repeat(5000)),
    fc.array(fc.string({ unit: 'binary' })),
  );
  const names = fc.constantFrom(
    ...Object.keys(good),
    ...Object.keys(good).map((name) => name.toUpperCase()),
    '__proto__',
  );

  test('header values of any kind', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values), { maxLength: 12 }), (changes) => {
        outcomeOf(secret, body, { ...good, ...Object.fromEntries(changes) });
        outcomeOf(secret, body, Object.fromEntries(changes));
      }),
      { numRuns: 2000 },
    );
  });

  test('header values that no type allows', () => {
    fc.assert(
      fc.property(names, fc.anything(), (name, value) => {
        outcomeOf(secret, body, { ...good, [name]: value } as HeaderSource);
      }),
      { numRuns: 1000 },
    );
  });

  test('well-signed bodies of any kind', () => {
    const anyBody = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.jsonValue().map((event) => JSON.stringify({ runId: 'r', event })),
    );
    // Once each: a body of this depth costs as much as a hundred others.
    const examples: [string][] = [
      ['['.repeat(100_000)],
      ['{"__proto__":{"runId":"r"},"runId":"r","event":{"__proto__":null}}'],
    ];
    fc.assert(
      fc.property(anyBody, (received) => {
        expect(['accepted', 'malformed_body', 'event_type_mismatch']).toContain(
          outcomeOf(secret, received, signDelivery({ ...BASE, secret, body: received })),
        );
      }),
      { numRuns: 1500, examples },
    );
  });
});

describe('both builds of the HMAC agree with OpenSSL', () => {
  const builds = [
    ['node', nodeHmac],
    ['portable', portableHmac],
    ['workerd', workerdHmac],
  ] as const;

  test.each(builds)('%s, for any key, text and bytes', (_name, prepare) => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.string(),
        fc.uint8Array(),
        (key, prefix, bytes) => {
          const hmac = prepare(key);
          for (const encoding of ['hex', 'base64'] as const) {
            const expected = createHmac('sha256', key).update(prefix).update(bytes).digest(encoding);
            expect(hmac(prefix, bytes, encoding)).toBe(expected);
          }
          expect(hmac(prefix, prefix)).toBe(createHmac('sha256', key).update(prefix).update(prefix).digest('hex'));
        },
      ),
    );
  });

  // Sizes around the buffer of the Node build, and around the largest UTF-8 form of a text.
  test.each(builds)('%s, for bodies around every threshold of size', (_name, prepare) => {
    const key = Buffer.from('key');
    const hmac = prepare(key);
    for (const size of [0, 1, 63, 64, 65, 10_880, 10_900, 32_640, 32_690, 32_691, 32_692, 32_768, 70_000]) {
      for (const body of ['x'.repeat(size), 'é'.repeat(size), '☃'.repeat(size), Buffer.alloc(size, 7)]) {
        const expected = createHmac('sha256', key).update('1700000000.').update(body).digest('hex');
        expect(hmac('1700000000.', body)).toBe(expected);
      }
    }
  });

  test('and the same SHA-256', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(portableSha256Hex(text)).toBe(nodeSha256Hex(text));
      }),
    );
  });
});
