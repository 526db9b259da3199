import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prepareHmac as nodeHmac } from '../src/hmac/node.ts';
import { prepareHmac as portableHmac } from '../src/hmac/portable.ts';
import {
  type HeaderFamily,
  type HeaderSource,
  secretFingerprint,
  signDelivery,
  Webhook,
  WebhookVerificationError,
} from '../src/index.ts';
import vector from '../vectors/delivery-v1.json' with { type: 'json' };
import freshness from '../vectors/freshness.json' with { type: 'json' };

const NOW = 1_700_000_000_000;
const { secret, body } = vector;

function signed(families: readonly HeaderFamily[] = ['A', 'B'], over: { body?: string; secret?: string } = {}) {
  const input = { body, secret, webhookId: 'whk_1', eventType: 'run.completed', timestamp: NOW / 1000, ...over };
  return signDelivery({ ...input, families });
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (WebhookVerificationError.is(error)) return error.code;
    throw error;
  }
  return 'accepted';
}

const webhook = new Webhook(secret, { now: () => NOW });
const outcome = (headers: HeaderSource, received: string = body) => codeOf(() => webhook.verify(received, headers));

describe(covers('webhooks.signature.signed-bytes', 'webhooks.signature.key', 'webhooks.headers.signature'), () => {
  test('a signature made by another program verifies', () => {
    const headers = {
      'SVC-Webhook-Id': 'whk_1',
      'SVC-Event-Type': 'run.completed',
      'SVC-Timestamp': vector.timestamp,
      'SVC-Signature': vector.signature,
    };
    expect(webhook.verify(body, headers)).toMatchObject({ runId: 'run_1', workspaceId: 'w', timestamp: 1_700_000_000 });
  });

  test('what is signed is what that program gives', () => {
    expect(signed(['A'])['SVC-Signature']).toBe(vector.signature);
  });
});

describe(covers('webhooks.verify.freshness', 'webhooks.verify.timestamp-grammar'), () => {
  test.each(freshness)('$why', ({ header, now, code = 'accepted' }) => {
    const hmac = nodeHmac(new TextEncoder().encode(secret));
    const signature = `sha256=${Buffer.from(hmac(`${header}.`, body)).toString('hex')}`;
    const headers = { ...signed(['A']), 'SVC-Timestamp': header, 'SVC-Signature': signature };
    expect(codeOf(() => new Webhook(secret, { now: () => now }).verify(body, headers))).toBe(code);
  });

  test('a clock that is no number refuses', () => {
    expect(codeOf(() => new Webhook(secret, { now: () => Number.NaN }).verify(body, signed()))).toBe(
      'timestamp_out_of_range',
    );
  });
});

describe(covers('webhooks.signature.family-b-only-accepted', 'webhooks.verify.families-disagree'), () => {
  test.each([[['A'] as const], [['B'] as const], [['A', 'B'] as const]])('families %j verify', (families) => {
    expect(outcome(signed(families))).toBe('accepted');
  });

  test.each(['Webhook-Id', 'Event-Type', 'Timestamp', 'Signature', 'Signature-Algorithm'])(
    'a disagreement on %s is refused',
    (name) => {
      expect(outcome({ ...signed(), [`X-svc-${name}`]: 'other' })).toBe('header_mismatch');
    },
  );
});

describe(covers('webhooks.verify.headers-required', 'webhooks.verify.repeated-header'), () => {
  test.each(['SVC-Webhook-Id', 'SVC-Event-Type', 'SVC-Timestamp', 'SVC-Signature'])('%s is required', (name) => {
    const { [name]: _, ...headers } = signed(['A']);
    expect(outcome(headers)).toBe('missing_header');
  });

  test('a repeat with another value is refused, however the platform shows it', () => {
    const headers = signed(['A']);
    const first = headers['SVC-Signature'] ?? '';
    const other = `sha256=${'0'.repeat(64)}`;
    expect(outcome({ ...headers, 'SVC-Signature': [first, other] })).toBe('repeated_header');
    expect(outcome({ ...headers, 'SVC-Signature': `${first}, ${other}` })).toBe('repeated_header');
    expect(outcome([...Object.entries(headers), ['svc-signature', other]])).toBe('repeated_header');
    expect(outcome({ ...headers, 'SVC-Signature': [first, first] })).toBe('accepted');
  });

  test('names are read in any case and from any source', () => {
    const upper = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]));
    expect(outcome(upper)).toBe('accepted');
    expect(outcome(new Headers(signed()))).toBe('accepted');
    expect(outcome(Object.entries(signed()))).toBe('accepted');
  });
});

describe(covers('webhooks.verify.unknown-algorithm', 'webhooks.signature.algorithm-absent-is-v1'), () => {
  test('an absent algorithm is v1', () => {
    const { 'SVC-Signature-Algorithm': _, ...headers } = signed(['A']);
    expect(outcome(headers)).toBe('accepted');
  });
  test.each(['v2', 'V1', 'none', 'v1 v2'])('%s is refused', (algorithm) => {
    expect(outcome({ ...signed(['A']), 'SVC-Signature-Algorithm': algorithm })).toBe('unknown_algorithm');
  });
});

describe(covers('webhooks.verify.signature-prefix', 'webhooks.verify.hmac'), () => {
  const good = vector.signature;
  test.each([
    ['without its prefix', good.slice(7), 'malformed_signature'],
    ['of another hash', good.replace('256', '512'), 'malformed_signature'],
    ['too short', good.slice(0, -1), 'malformed_signature'],
    ['too long', `${good}0`, 'malformed_signature'],
    ['with a letter that is no digit', good.replace(/.$/, 'g'), 'malformed_signature'],
    ['of zeros', `sha256=${'0'.repeat(64)}`, 'signature_mismatch'],
    ['in upper case', `sha256=${good.slice(7).toUpperCase()}`, 'accepted'],
  ])('a signature %s', (_title, signature, code) => {
    expect(outcome({ ...signed(['A']), 'SVC-Signature': signature })).toBe(code);
  });

  test('another body, secret or timestamp is refused', () => {
    expect(outcome(signed(), `${body} `)).toBe('signature_mismatch');
    expect(outcome(signed(['A'], { secret: 'another secret' }))).toBe('signature_mismatch');
    expect(outcome({ ...signed(['A']), 'SVC-Timestamp': '1700000001' })).toBe('signature_mismatch');
  });

  test('any of several secrets verifies', () => {
    const rotating = new Webhook(['an older secret', secret], { now: () => NOW });
    expect(codeOf(() => rotating.verify(body, signed()))).toBe('accepted');
  });
});

describe('a well-signed body that is not a delivery', () => {
  test.each([
    ['{', 'malformed_body'],
    ['[]', 'malformed_body'],
    ['{"runId":"r"}', 'malformed_body'],
    [body.replace('"sequence":3', '"sequence":"3"'), 'malformed_body'],
    [body.replace('"runId":"run_1","sequence"', '"runId":"run_2","sequence"'), 'malformed_body'],
    [body.replace('run.completed', 'run.failed'), 'event_type_mismatch'],
    [body.replace('"payload"', '"later":1,"payload"'), 'accepted'],
  ])('%s', (received, code) => {
    expect(outcome(signed(['A'], { body: received }), received)).toBe(code);
  });
});

describe(covers('webhooks.verify.raw-body'), () => {
  test('bytes, views and buffers are taken as they are', () => {
    const bytes = new TextEncoder().encode(body);
    const inside = new Uint8Array([0, ...bytes, 0]);
    for (const received of [bytes, bytes.buffer, Buffer.from(bytes), new DataView(inside.buffer, 1, bytes.length)]) {
      expect(webhook.verify(received, signed()).runId).toBe('run_1');
    }
  });

  test('a parsed body is a mistake in the program, and the message says so', () => {
    expect(() => webhook.safeVerify(JSON.parse(body), signed())).toThrow(/raw bytes.*express\.raw/s);
  });
});

describe('properties', () => {
  test('whatever is signed verifies, and one changed byte does not', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (payload, position) => {
        const text = JSON.stringify({ ...JSON.parse(body), extra: payload });
        const bytes = new TextEncoder().encode(text);
        const headers = signed(['A'], { body: text });
        expect(codeOf(() => webhook.verify(bytes, headers))).toBe('accepted');
        bytes[position % bytes.length] = (bytes[position % bytes.length] ?? 0) ^ 1;
        expect(codeOf(() => webhook.verify(bytes, headers))).toBe('signature_mismatch');
      }),
    );
  });

  test('no header text makes it throw anything but its own error', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(signed())), fc.string(), (name, value) => {
        codeOf(() => webhook.verify(body, { ...signed(), [name]: value }));
      }),
    );
  });

  test('both builds of the HMAC agree', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.string(),
        fc.uint8Array(),
        (key, prefix, bytes) => {
          expect(Buffer.from(portableHmac(key)(prefix, bytes))).toEqual(Buffer.from(nodeHmac(key)(prefix, bytes)));
        },
      ),
    );
  });
});

test(covers('webhooks.secret.fingerprint-form'), () => {
  expect(secretFingerprint('abc')).toBe('ba7816bf');
});

test('a secret with white space around it is refused at once', () => {
  expect(() => new Webhook('secret\n')).toThrow(/white space/);
  expect(() => new Webhook([])).toThrow(TypeError);
  expect(() => new Webhook(secret, { toleranceSeconds: 0 })).toThrow(TypeError);
});
