import { covers } from '@svc/tools/covers';
import { describe, expect, test, vi } from 'vitest';
import { type DeliveryClaims, parseDelivery } from '../src/delivery.ts';
import {
  HEADER_NAMES,
  type HeaderFamily,
  type HeaderSource,
  secretFingerprint,
  signDelivery,
  verifySignature,
  Webhook,
  WebhookVerificationError,
} from '../src/index.ts';
import { sameDigest } from '../src/signature.ts';
import { type DeliveryVector, deliveryVectors } from './vectors.ts';

const NOW = 1_700_000_000;
const [good] = deliveryVectors;
const secret = good?.secrets[0] ?? '';
const body = good?.body.toString() ?? '';

function signed(families: readonly HeaderFamily[] = ['SVC', 'X-svc'], over: { body?: string; secret?: string } = {}) {
  const input = { body, secret, webhookId: 'whk_1', eventType: 'run.completed', timestamp: NOW, ...over };
  return signDelivery({ ...input, families });
}

function outcomeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
  return 'accepted';
}

const webhook = new Webhook(secret, { now: () => NOW * 1000 });

/** Returns the vectors with one of these outcomes. */
function vectorsOf(...outcomes: readonly string[]): readonly DeliveryVector[] {
  const found = deliveryVectors.filter(({ outcome }) => outcomes.includes(outcome));
  expect(found.length).toBeGreaterThan(0);
  return found;
}

function judge({ secrets, now, options, headers, body: received }: DeliveryVector): string {
  return outcomeOf(() => new Webhook(secrets, { ...options, now: () => now * 1000 }).verify(received, headers));
}

describe(
  covers(
    'webhooks.signature.signed-bytes',
    'webhooks.signature.key',
    'webhooks.signature.family-b-only-accepted',
    'webhooks.signature.algorithm-absent-is-v1',
    'webhooks.verify.hmac',
  ),
  () => {
    test.each(vectorsOf('accepted'))('accepts: $why', (vector) => {
      expect(judge(vector)).toBe('accepted');
    });

    test.each(vectorsOf('signature_mismatch'))('rejects: $why', (vector) => {
      expect(judge(vector)).toBe('signature_mismatch');
    });
  },
);

describe(covers('webhooks.verify.freshness', 'webhooks.verify.timestamp-grammar'), () => {
  test.each(vectorsOf('timestamp_out_of_range', 'malformed_timestamp'))('rejects: $why', (vector) => {
    expect(judge(vector)).toBe(vector.outcome);
  });

  test('rejects when the clock returns NaN', () => {
    const broken = new Webhook(secret, { now: () => Number.NaN });
    expect(outcomeOf(() => broken.verify(body, signed()))).toBe('timestamp_out_of_range');
  });

  test('accepts the whole last second', () => {
    const at = (now: number) => outcomeOf(() => new Webhook(secret, { now: () => now }).verify(body, signed()));
    expect(at((NOW + 300) * 1000 + 999)).toBe('accepted');
    expect(at((NOW + 301) * 1000)).toBe('timestamp_out_of_range');
  });
});

describe(covers('webhooks.verify.families-disagree'), () => {
  test.each(vectorsOf('header_mismatch'))('rejects: $why', (vector) => {
    expect(judge(vector)).toBe('header_mismatch');
  });
});

describe(covers('webhooks.verify.headers-required', 'webhooks.verify.repeated-header'), () => {
  test.each(vectorsOf('missing_header', 'repeated_header'))('rejects: $why', (vector) => {
    expect(judge(vector)).toBe(vector.outcome);
  });

  test.each([
    ['null', null],
    ['a text', 'SVC-Signature: x'],
    ['undefined', undefined],
  ])('throws a TypeError for %s instead of headers', (_title, headers) => {
    expect(() => webhook.safeVerify(body, headers as unknown as HeaderSource)).toThrow(/must be a Headers object/);
  });
});

describe(covers('webhooks.verify.unknown-algorithm', 'webhooks.verify.signature-prefix'), () => {
  test.each(vectorsOf('unknown_algorithm', 'malformed_signature'))('rejects with 400: $why', (vector) => {
    expect(judge(vector)).toBe(vector.outcome);
    const { secrets, now, headers, body: received } = vector;
    const result = new Webhook(secrets, { now: () => now * 1000 }).safeVerify(received, headers);
    expect(result.ok ? 200 : result.error.status).toBe(400);
  });
});

describe(covers('webhooks.verify.constant-time'), () => {
  const digest = 'a'.repeat(64);

  test.each([
    ['the first digit', `b${'a'.repeat(63)}`],
    ['the last digit', `${'a'.repeat(63)}b`],
    ['no digit', digest],
  ])('compares a digest that differs in %s to its end', (_title, claimed) => {
    const read = vi.spyOn(String.prototype, 'charCodeAt');
    try {
      sameDigest(digest, claimed);
      expect(read).toHaveBeenCalledTimes(128);
    } finally {
      read.mockRestore();
    }
  });

  test.each([0, 1, 2])('tries every secret when number %i fits', (place) => {
    const tried: number[] = [];
    const secrets = [0, 1, 2].map((index) => () => {
      tried.push(index);
      return index === place ? digest : '0'.repeat(64);
    });
    const headers = { ...signed(['SVC']), 'SVC-Signature': `sha256=${digest}` };
    expect(verifySignature(body, headers, { secrets, now: NOW * 1000, toleranceSeconds: 300 }).timestamp).toBe(NOW);
    expect(tried).toEqual([0, 1, 2]);
  });
});

describe('a well-signed body that is not a delivery', () => {
  test.each(vectorsOf('malformed_body', 'event_type_mismatch'))('rejects: $why', (vector) => {
    expect(judge(vector)).toBe(vector.outcome);
  });

  test('verifySignature accepts the bytes, and read rejects the content', () => {
    const signedDelivery = webhook.verifySignature('{', signed(['SVC'], { body: '{' }));
    expect(signedDelivery).toMatchObject({ webhookId: 'whk_1', timestamp: NOW });
    expect(outcomeOf(() => signedDelivery.read())).toBe('malformed_body');
    expect(webhook.verifySignature(body, signed()).read()).toEqual(webhook.verify(body, signed()));
  });
});

describe('parseDelivery', () => {
  const event = { type: 'run.completed', runId: 'run_1', timestamp: '2026-06-01T00:00:00Z', sequence: 1, payload: {} };
  const claims = { webhookId: 'whk_1', eventType: 'run.completed' };
  const parse = (content: object, claimed: DeliveryClaims = claims) =>
    parseDelivery(JSON.stringify(content), claimed, NOW);

  test('accepts a claim without a type, and a workspace', () => {
    const { eventType } = parse({ runId: 'run_1', event }, { webhookId: 'whk_1', eventType: undefined });
    expect(eventType).toBe('run.completed');
    expect(parse({ runId: 'run_1', workspaceId: 'w', event })).toMatchObject({ runId: 'run_1', workspaceId: 'w' });
  });

  test.each([
    ['no run in either place', { event: { ...event, runId: undefined } }, 'runId'],
    ['an empty run in both places', { runId: '', event: { ...event, runId: '' } }, 'runId'],
    ['a run that is a number in both places', { runId: 1, event: { ...event, runId: 1 } }, 'runId'],
    ['an empty type', { runId: 'run_1', event: { ...event, type: '' } }, 'event.type'],
    ['an empty time', { runId: 'run_1', event: { ...event, timestamp: '' } }, 'event.timestamp'],
    ['an empty workspace', { runId: 'run_1', workspaceId: '', event }, 'workspaceId'],
  ])('rejects %s, and names the field', (_title, content, field) => {
    for (const claimed of [claims, { ...claims, eventType: '' }, { ...claims, eventType: undefined }]) {
      expect(() => parse(content, claimed)).toThrow(
        expect.objectContaining({ code: 'malformed_body', details: { problem: `${field} is not a non-empty string` } }),
      );
    }
  });

  test.each([
    ['the body is not UTF-8', Uint8Array.of(0xff)],
    ['the body is not JSON', '{'],
    ['the body is not a JSON object', '[]'],
    ['event is not an object', '{"runId":"run_1","event":[]}'],
  ])('says that %s', (problem, content) => {
    expect(() => parseDelivery(content, claims, NOW)).toThrow(expect.objectContaining({ details: { problem } }));
  });
});

describe('headers in every form', () => {
  const given = Object.entries(signed());
  const changed = (change: (value: string) => string) => given.map(([name, value]) => [name, change(value)] as const);
  const lowered = new Map(given.map(([name, value]) => [name.toLowerCase(), value]));

  test.each<[string, HeaderSource]>([
    ['joined headers that agree', Object.fromEntries(changed((value) => `${value}, ${value}`))],
    ['joined headers without a space', Object.fromEntries(changed((value) => `${value},${value}`))],
    ['joined headers, one of them empty', Object.fromEntries(changed((value) => `${value}, `))],
    ['an object with get alone', { get: (name: string) => lowered.get(name.toLowerCase()) }],
    ['an object whose get needs lower case', { get: (name: string) => lowered.get(name) ?? null }],
    ['a Map with the names as sent', new Map(given)],
    ['a Map with the names in lower case', lowered],
    ['a list of pairs', given],
    ['a record of lists', Object.fromEntries(given.map(([name, value]) => [name, [value, value]]))],
  ])('accepts %s', (_title, headers) => {
    expect(outcomeOf(() => webhook.verify(body, headers))).toBe('accepted');
  });

  test.each<[string, string, HeaderSource, object | undefined]>([
    [
      'repeated_header',
      'joined headers that differ',
      { ...signed(), 'SVC-Timestamp': `${NOW}, ${NOW + 1}` },
      timestamp(),
    ],
    ['header_mismatch', 'families that differ', { ...signed(), 'X-svc-Timestamp': `${NOW + 1}` }, timestamp()],
    ['missing_header', 'no timestamp', { ...signed(['SVC']), 'SVC-Timestamp': '' }, timestamp()],
    ['malformed_signature', 'a text before the prefix', { ...signed(['SVC']), 'SVC-Signature': prefixed() }, undefined],
  ])('answers %s for %s, with the details', (code, _title, headers, details) => {
    expect(() => webhook.verify(body, headers)).toThrow(expect.objectContaining({ code, details }));
  });

  test('names the tolerance that a delivery exceeds', () => {
    const late = new Webhook(secret, { now: () => (NOW + 61) * 1000, toleranceSeconds: 60 });
    expect(() => late.verify(body, signed())).toThrow(expect.objectContaining({ details: { toleranceSeconds: 60 } }));
    expect(() => late.verify(body, signed())).toThrow('The signing time is more than 60 s from now.');
  });

  test('says which header and which member are wrong, in the message too', () => {
    expect(() => webhook.verify(body, { ...signed(['SVC']), 'SVC-Timestamp': '' })).toThrow(
      'Header SVC-Timestamp is missing. Pass all headers of the request, unfiltered.',
    );
    expect(() => webhook.verify('{}', signed(['SVC'], { body: '{}' }))).toThrow(
      'The body is signed, but it is not a delivery: event is not an object. Check the sender.',
    );
  });

  function timestamp() {
    return { header: HEADER_NAMES.SVC.timestamp };
  }

  function prefixed() {
    return `x${signed(['SVC'])['SVC-Signature']}`;
  }
});

describe('the delivery', () => {
  test('has the signed content and the id of the subscription', () => {
    expect(webhook.verify(body, signed())).toEqual({
      webhookId: 'whk_1',
      eventType: 'run.completed',
      timestamp: NOW,
      runId: 'run_1',
      workspaceId: 'w',
      event: JSON.parse(body).event,
    });
  });

  test('has a workspace only when the sender names one', () => {
    const text = JSON.stringify({ ...JSON.parse(body), workspaceId: undefined });
    expect(webhook.verify(text, signed(['SVC'], { body: text }))).not.toHaveProperty('workspaceId');
  });

  test.each(vectorsOf('webhook_id_mismatch'))('is rejected: $why', (vector) => {
    expect(judge(vector)).toBe('webhook_id_mismatch');
  });
});

describe(covers('webhooks.verify.raw-body'), () => {
  test.each([
    ['a parsed body', JSON.parse(body)],
    ['nothing', undefined],
    ['null', null],
    ['a list of bytes', [123, 125]],
  ])('throws a TypeError with the remedy for %s', (_title, received) => {
    expect(() => webhook.safeVerify(received, signed())).toThrow(TypeError);
    expect(() => webhook.safeVerify(received, signed())).toThrow(/raw bytes.*express\.raw.*Fastify.*arrayBuffer/s);
  });

  test('leaves the bytes unchanged', () => {
    const bytes = Buffer.from(body);
    webhook.verify(bytes, signed());
    expect(bytes.toString()).toBe(body);
  });
});

describe(
  covers(
    'webhooks.headers.values',
    'webhooks.headers.timestamp',
    'webhooks.headers.signature',
    'webhooks.headers.families-identical',
  ),
  () => {
    test('the headers equal those of another program', () => {
      expect(signed(['SVC'])).toEqual(Object.fromEntries(good?.headers ?? []));
    });

    test('both families have the same values', () => {
      const headers = signed(['SVC', 'X-svc']);
      for (const field of ['webhookId', 'eventType', 'timestamp', 'signature', 'algorithm'] as const) {
        expect(headers[HEADER_NAMES.SVC[field]]).toBe(headers[HEADER_NAMES['X-svc'][field]]);
      }
      expect(Object.keys(headers)).toHaveLength(10);
    });

    test.each([1.5, -1, Number.NaN, 2 ** 53, '1700000000'])('throws for the timestamp %s', (timestamp) => {
      const input = { body, secret, webhookId: 'w', eventType: 't', families: ['SVC'] as const };
      expect(() => signDelivery({ ...input, timestamp: timestamp as number })).toThrow(TypeError);
    });

    test('throws without a family', () => {
      expect(() => signed([])).toThrow(/at least one header family/);
    });
  },
);

describe('errors', () => {
  test('carry a status and a sentence, and no part of the secret, the body or a header value', () => {
    for (const vector of deliveryVectors) {
      const { secrets, now, options, headers, body: received } = vector;
      const result = new Webhook(secrets, { ...options, now: () => now * 1000 }).safeVerify(received, headers);
      if (result.ok) continue;
      const { error } = result;
      expect(error.message).toMatch(/^[A-Z].{20,}[.?]$/);
      expect([400, 401]).toContain(error.status);
      const said = JSON.stringify([error.message, error.details]);
      for (const hidden of [...secrets, 'whk_1', 'run_1', headers[3]?.[1].slice(7) ?? 'none']) {
        if (hidden.length > 4) expect(said).not.toContain(hidden);
      }
    }
  });

  test('are recognised across copies of the package', () => {
    const error = new WebhookVerificationError('unknown_algorithm', undefined);
    const brand = Object.getOwnPropertySymbols(error)[0] ?? '';
    expect(WebhookVerificationError.is(error)).toBe(true);
    expect(WebhookVerificationError.is({ [brand]: true })).toBe(true);
    expect(WebhookVerificationError.is(new Error('unknown_algorithm'))).toBe(false);
  });
});

test(covers('webhooks.secret.fingerprint-form'), () => {
  expect(secretFingerprint('abc')).toBe('ba7816bf');
});

describe('the constructor of Webhook', () => {
  test.each([
    ['a secret with a newline', () => new Webhook('secret\n'), /white space/],
    ['an empty secret', () => new Webhook(''), /environment variable/],
    ['a secret that is not set', () => new Webhook(undefined as unknown as string), TypeError],
    ['no secret', () => new Webhook([]), /non-empty list/],
    ['an empty one among others', () => new Webhook([secret, '']), TypeError],
    ['a tolerance of nothing', () => new Webhook(secret, { toleranceSeconds: 0 }), /cannot be switched off/],
    ['a tolerance without end', () => new Webhook(secret, { toleranceSeconds: Number.POSITIVE_INFINITY }), TypeError],
  ])('throws for %s', (_title, make, problem) => {
    expect(make).toThrow(problem);
  });

  test('no message repeats a secret', () => {
    expect(() => new Webhook('hunter2 ')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
    );
  });
});
