import { createHmac } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import { WebhookVerificationError } from '@svc/webhook-verify';
import { signStandard } from '@svc/webhook-verify/standard-webhooks';
import { testDelivery } from '@svc/webhook-verify/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WebhookPreset, WebhookSource } from '../../ports/triggers.ts';
import { type AuthenticWebhook, verifiedWebhook } from './presets.ts';

interface Vector {
  readonly source: WebhookSource;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The time of the sender, in seconds. */
  readonly at: number;
  readonly type: string | undefined;
}

const AT = 1_531_420_618;

/** The time of `testDelivery` is that of the machine. */
const delivery = testDelivery({ secret: 'the secret of a subscription', families: ['SVC'] });
const deliveryAt = Number(new Headers(delivery.headers).get('svc-timestamp'));

const STANDARD = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/**
 * GitHub and Slack: the examples of their documentation. Standard Webhooks, Stripe, Shopify: bodies that standardwebhooks
 * 1.1.1 and stripe 23.1.0 signed, and that the validation of @shopify/shopify-api 13.1.0 accepted.
 */
const VECTORS: Readonly<Record<Exclude<WebhookPreset, 'hmac'> | 'hmac with a time' | 'hmac in base64', Vector>> = {
  github: {
    source: { preset: 'github' },
    secret: "It's a Secret to Everybody",
    headers: {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
      'x-github-event': 'push',
    },
    body: 'Hello, World!',
    at: AT,
    type: 'push',
  },
  slack: {
    source: { preset: 'slack' },
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    at: AT,
    type: undefined,
  },
  stripe: {
    source: { preset: 'stripe' },
    secret: 'whsec_test_secret_of_stripe',
    headers: {
      'stripe-signature': 't=1531420618,v1=3d76d53f514a08bc26ad5a0ff1a5162a3d61c20afefc5c3b0bcdd6b2a20d6be3',
    },
    body: '{"id":"evt_1PqVector","object":"event","type":"invoice.paid","data":{"object":{"id":"in_1"}}}',
    at: AT,
    type: 'invoice.paid',
  },
  'standard-webhooks': {
    source: { preset: 'standard-webhooks' },
    secret: STANDARD,
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    at: 1_614_265_330,
    type: undefined,
  },
  shopify: {
    source: { preset: 'shopify' },
    secret: 'a secret of shopify',
    headers: {
      'x-shopify-hmac-sha256': 'jK92Bo/fYvNj+IHaDtj+4RzUPbR746M/3nssPoer3Xo=',
      'x-shopify-topic': 'orders/create',
    },
    body: '{"id":820982911946154500,"email":"jon@example.com"}',
    at: AT,
    type: 'orders/create',
  },
  svc: {
    source: { preset: 'svc' },
    secret: 'the secret of a subscription',
    headers: Object.fromEntries(new Headers(delivery.headers)),
    body: delivery.body,
    at: deliveryAt,
    type: 'run.completed',
  },
  'hmac with a time': signedByHmac({ algorithm: 'sha512', encoding: 'hex', prefix: 'v1=', timestampHeader: 'x-time' }),
  'hmac in base64': signedByHmac({ algorithm: 'sha256', encoding: 'base64', prefix: '' }),
};

function signedByHmac(
  rules: Omit<NonNullable<WebhookSource['signature']>, 'header'>,
  body = '{"type":"made","n":1}',
): Vector {
  const { algorithm, encoding, prefix, timestampHeader } = rules;
  const text = timestampHeader === undefined ? body : `${AT}.${body}`;
  const signature = createHmac(algorithm, 'a secret of a sender').update(text).digest(encoding);
  return {
    source: { preset: 'hmac', signature: { header: 'x-signature', ...rules } },
    secret: 'a secret of a sender',
    headers: {
      'x-signature': prefix + signature,
      ...(timestampHeader !== undefined && { [timestampHeader]: String(AT) }),
    },
    body,
    at: AT,
    type: 'made',
  };
}

function judge({ source, secret, headers, body, at }: Vector, secrets = [secret]): AuthenticWebhook {
  const sent = new Headers(headers);
  const parse = (bytes: Uint8Array) => {
    const text = Buffer.from(bytes).toString();
    return text.startsWith('{') ? JSON.parse(text) : text;
  };
  return verifiedWebhook(source, secrets, { headers: sent, body: Buffer.from(body), now: at * 1000, parse });
}

function codeOf(verify: () => unknown): string | undefined {
  try {
    verify();
    return undefined;
  } catch (error) {
    if (WebhookVerificationError.is(error)) return error.code;
    throw error;
  }
}

const NAMED = Object.entries(VECTORS);

describe.each(NAMED)(`the preset %s: ${covers('triggers.webhook.signature')}`, (_name, vector) => {
  test('accepts a message of the sender, also with the secret before a rotation', () => {
    expect(judge(vector)).toMatchObject({ kind: 'message', type: vector.type });
    expect(
      judge(
        vector,
        ['another secret of the sender', vector.secret].filter((one) => fits(vector, one)),
      ),
    ).toBeTruthy();
  });

  test('rejects another secret, and a body with one more byte', () => {
    const other =
      vector.source.preset === 'standard-webhooks' ? `whsec_${'QUJD'.repeat(8)}` : 'another secret of the sender';
    expect(codeOf(() => judge(vector, [other]))).toBe('signature_mismatch');
    expect(codeOf(() => judge({ ...vector, body: `${vector.body} ` }))).toBe('signature_mismatch');
  });

  test('rejects a message without one of its signature headers', () => {
    const { 'x-github-event': _event, 'x-shopify-topic': _topic, ...signed } = vector.headers;
    for (const name of Object.keys(signed).filter((header) => !/^(?:content-|x-svc-|svc-)/.test(header))) {
      const { [name]: _, ...headers } = vector.headers;
      expect(codeOf(() => judge({ ...vector, headers }))).toBe('missing_header');
    }
  });

  test('no text in its signature header is accepted, and none throws another error', () => {
    const header = Object.keys(vector.headers).find((name) => /signature|hmac/.test(name)) ?? '';
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary-ascii' }).filter((text) => !/[\0\r\n]/.test(text)),
        (text) => {
          expect(codeOf(() => judge({ ...vector, headers: { ...vector.headers, [header]: text } }))).toBeTruthy();
        },
      ),
      { numRuns: 200 },
    );
  });
});

/** A secret that a preset cannot have is left out. */
function fits({ source }: Vector, secret: string): boolean {
  return source.preset !== 'standard-webhooks' || secret.startsWith('whsec_');
}

const SIGNED_TIME = NAMED.filter(([name]) =>
  ['slack', 'stripe', 'standard-webhooks', 'svc', 'hmac with a time'].includes(name),
);

describe.each(SIGNED_TIME)('the preset %s, which signs its time', (_name, vector) => {
  test.each([-301, 301])('rejects a message that is replayed %i seconds away', (seconds) => {
    expect(codeOf(() => judge({ ...vector, at: vector.at + seconds }))).toBe('timestamp_out_of_range');
  });

  test.each([-300, 300])('accepts one %i seconds away', (seconds) => {
    expect(codeOf(() => judge({ ...vector, at: vector.at + seconds }))).toBe(undefined);
  });
});

describe('the key for deduplication', () => {
  const keyOf = (vector: Vector) => {
    const authentic = judge(vector);
    return authentic.kind === 'message' ? authentic.key : undefined;
  };

  test('stays the same when headers that are not signed change', () => {
    const { github, svc } = VECTORS;
    const headers = { ...github.headers, 'x-github-delivery': 'another', 'x-github-event': 'issues' };
    expect(keyOf({ ...github, headers })).toEqual(keyOf(github));
    const other = { ...svc.headers, 'svc-webhook-id': 'another' };
    expect(keyOf({ ...svc, headers: other })).toEqual(keyOf(svc));
  });

  test('has a topic of Shopify, which is not signed, only when the trigger names it', () => {
    const { shopify } = VECTORS;
    const under = (topic: string, types?: readonly string[]) =>
      keyOf({
        ...shopify,
        source: { preset: 'shopify', ...(types !== undefined && { types }) },
        headers: { ...shopify.headers, 'x-shopify-topic': topic },
      });
    expect(under('captured/again')).toEqual(under('orders/create'));
    const named = ['orders/create', 'orders/updated'];
    expect(under('orders/updated', named)).not.toEqual(under('orders/create', named));
    expect(under('captured/again', named)).toEqual(under('captured/once-more', named));
  });

  test('is the id that the sender signs', () => {
    expect(keyOf(VECTORS.stripe)).toEqual(['evt_1PqVector']);
    expect(keyOf(VECTORS['standard-webhooks'])).toEqual(['msg_p5jXN8AQM9LWM0D4loKWxJek']);
  });
});

test('a repeated time in the header of Stripe is rejected', () => {
  const { stripe } = VECTORS;
  const headers = { 'stripe-signature': `t=${AT - 400},${stripe.headers['stripe-signature']}` };
  expect(codeOf(() => judge({ ...stripe, headers }))).toBe('repeated_header');
});

test('signed challenges of Slack and of Standard Webhooks are answered', () => {
  const body = '{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRNFdxV"}';
  const { slack } = VECTORS;
  const digest = createHmac('sha256', slack.secret).update(`v0:${AT}:${body}`).digest('hex');
  const headers = { ...slack.headers, 'x-slack-signature': `v0=${digest}` };
  const answer = { kind: 'challenge', answer: { challenge: '3eZbrw1aBm2rZgRNFdxV' } };
  expect(judge({ ...slack, body, headers })).toEqual(answer);
  expect(codeOf(() => judge({ ...slack, body }))).toBe('signature_mismatch');

  const asked = '{"type":"svc.webhook.verification","challenge":"3eZbrw1aBm2rZgRNFdxV"}';
  const signed = signStandard({ id: 'msg_0123456789abcdef', timestamp: AT, body: asked, secret: STANDARD });
  const verification = { ...VECTORS['standard-webhooks'], body: asked, at: AT };
  expect(judge({ ...verification, headers: Object.fromEntries(new Headers(signed)) })).toEqual(answer);
});
