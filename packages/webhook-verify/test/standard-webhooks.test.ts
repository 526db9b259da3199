import { randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { Webhook as PublicWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, test } from 'vitest';
import { receiver } from '../src/adapters/fetch.ts';
import { memoryDedupStore } from '../src/dedup/memory.ts';
import { signDelivery, Webhook, WebhookVerificationError } from '../src/index.ts';
import {
  isStandardSecret,
  StandardWebhook,
  type StandardWebhookOptions,
  signStandard,
  standardVerifier,
  VERIFICATION_TYPE,
} from '../src/standard-webhooks/index.ts';
import { testDelivery } from '../src/testing/index.ts';
import { messageVectors, standardDeliveryVectors } from './vectors.ts';

const key = Buffer.alloc(32, 7);
const secret = `whsec_${key.toString('base64')}`;
const seconds = () => Math.floor(Date.now() / 1000);

function outcomeOf(run: () => unknown): string {
  try {
    run();
    return 'accepted';
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
}

describe(covers('webhooks.signature.standard-form'), () => {
  test.each(messageVectors)('$why: $outcome', ({ secrets, now, options, headers, body, outcome }) => {
    const webhook = new StandardWebhook(secrets, { ...options, now: () => now * 1000 });
    expect(outcomeOf(() => webhook.verify(body, headers))).toBe(outcome);
  });

  test.each(standardDeliveryVectors)('of a delivery, $why: $outcome', (vector) => {
    const { secrets, now, options, headers, body, outcome, answer } = vector;
    const result = standardVerifier(secrets, { ...options, now: () => now * 1000 }).safeVerify(body, headers);
    if (!result.ok) expect(result.error.code).toBe(outcome);
    else if ('challenge' in result) expect(['challenge', JSON.stringify(result)]).toEqual([outcome, answered(answer)]);
    else expect(outcome).toBe('accepted');
  });

  function answered(answer = ''): string {
    return JSON.stringify({ ok: true, ...JSON.parse(answer) });
  }

  const anything = fc.record({
    keyBytes: fc.uint8Array({ minLength: 24, maxLength: 64 }),
    id: fc.stringMatching(/^[A-Za-z0-9_-]{1,60}$/),
    payload: fc.jsonValue(),
  });

  test.each([
    ['standardwebhooks', PublicWebhook],
    ['svix', SvixWebhook],
  ])('%s verifies our signatures, and we verify its signatures', (_name, Peer) => {
    fc.assert(
      fc.property(anything, ({ keyBytes, id, payload }) => {
        const shared = `whsec_${Buffer.from(keyBytes).toString('base64')}`;
        const peer = new Peer(shared);
        const body = JSON.stringify(payload);
        const ours = signStandard({ body, secret: shared, id, timestamp: seconds() });
        expect(() => peer.verify(body, ours)).not.toThrow();
        expect(() => peer.verify(`${body} `, ours)).toThrow();
        const theirs = {
          'webhook-id': id,
          'webhook-timestamp': String(seconds()),
          'webhook-signature': peer.sign(id, new Date(seconds() * 1000), body),
        };
        expect(new StandardWebhook(shared).verify(body, theirs)).toMatchObject({ id, payload: JSON.parse(body) });
        expect(outcomeOf(() => new StandardWebhook(shared).verify(`${body} `, theirs))).toBe('signature_mismatch');
      }),
    );
  });

  test('both secrets sign while a rotation overlaps, and a receiver with either verifies', () => {
    const newer = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
    const headers = signStandard({ body: '{}', secret: [newer, secret], id: 'msg_1', timestamp: seconds() });
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const one of [newer, secret]) {
      expect(new StandardWebhook(one).verify('{}', headers).id).toBe('msg_1');
      expect(new PublicWebhook(one).verify('{}', headers)).toEqual({});
    }
  });

  test.each(['', 'a.b', 'a,b', 'a b', 'a\nb', 'é', 'x'.repeat(257)])('throws for the id %j', (id) => {
    expect(() => signStandard({ body: '', secret, id, timestamp: 1 })).toThrow(/visible ASCII without dot and comma/);
  });

  test.each([1.5, -1, Number.NaN])('throws for the timestamp %s', (timestamp) => {
    expect(() => signStandard({ body: '', secret, id: 'a', timestamp })).toThrow(/whole seconds/);
  });
});

describe(covers('webhooks.signature.standard-secret-form'), () => {
  const of = (bytes: number) => `whsec_${randomBytes(bytes).toString('base64')}`;

  test.each([24, 25, 32, 63, 64])('accepts a secret of %i bytes', (bytes) => {
    expect(isStandardSecret(of(bytes))).toBe(true);
    expect(() => new StandardWebhook(of(bytes))).not.toThrow();
  });

  test.each([
    ['23 bytes', of(23)],
    ['65 bytes', of(65)],
    ['no prefix', key.toString('base64')],
    ['a prefix in upper case', secret.toUpperCase()],
    ['base64url', `whsec_${Buffer.alloc(32, 0xff).toString('base64url')}`],
    ['no padding', secret.replace(/=+$/, '')],
    ['a hexadecimal secret', key.toString('hex')],
    ['a space inside', secret.replace('_', '_ ')],
    ['nothing', 'whsec_'],
  ])('rejects a secret with %s, without repeating it', (_title, text) => {
    expect(isStandardSecret(text)).toBe(false);
    let message = '';
    try {
      new StandardWebhook(text);
    } catch (error) {
      message = error instanceof TypeError ? error.message : '';
    }
    expect(message).toMatch(/whsec_ followed by the base64 of 24 to 64 bytes/);
    if (text.length > 8) expect(message).not.toContain(text);
  });
});

describe('the options for senders of other conventions', () => {
  const bare = key.toString('base64');

  test.each([
    ['an empty list', []],
    ['an unknown family', ['svc']],
    ['a text', 'svix'],
  ])('throw for families that are %s', (_title, families) => {
    const options = { families } as unknown as StandardWebhookOptions;
    expect(() => new StandardWebhook(secret, options)).toThrow(/^families: must list 'webhook', 'svix' or both/);
  });

  test('accept a secret without whsec_ only where it is asked for', () => {
    expect(() => new StandardWebhook(bare)).toThrow(/must be whsec_ followed by/);
    expect(() => standardVerifier(bare)).toThrow(/must be whsec_ followed by/);
    expect(() => standardVerifier(bare, { unprefixedSecret: true })).not.toThrow();
  });

  test.each([
    ['of 23 bytes', Buffer.alloc(23, 7).toString('base64')],
    ['of 65 bytes', Buffer.alloc(65, 7).toString('base64')],
    ['without its padding', bare.replace(/=+$/, '')],
    ['in base64url', Buffer.alloc(32, 0xff).toString('base64url')],
    ['with the prefix twice', `whsec_${secret}`],
  ])('throw for a secret %s, without repeating it', (_title, text) => {
    const make = () => new StandardWebhook(text, { unprefixedSecret: true });
    expect(make).toThrow(/the base64 of 24 to 64 bytes, after whsec_ or alone/);
    expect(make).not.toThrow(text);
  });

  test('of svix accept the headers of svix', () => {
    const body = '{"a":1}';
    const at = new Date(seconds() * 1000);
    const headers = {
      'svix-id': 'msg_1',
      'svix-timestamp': String(seconds()),
      'svix-signature': new SvixWebhook(bare).sign('msg_1', at, body),
    };
    const webhook = new StandardWebhook(bare, { families: ['svix'], unprefixedSecret: true });
    expect(webhook.verify(body, new Headers(headers))).toMatchObject({ id: 'msg_1', payload: { a: 1 } });
    expect(outcomeOf(() => new StandardWebhook(secret).verify(body, headers))).toBe('missing_header');
  });
});

describe(covers('webhooks.signature.standard-opt-in'), () => {
  const { body } = testDelivery({ secret });
  const v1 = signDelivery({
    body,
    secret,
    webhookId: 'w',
    eventType: 'run.completed',
    timestamp: seconds(),
    families: ['SVC', 'X-svc'],
  });
  const standard = signStandard({ body, secret, id: 'msg_1', timestamp: seconds() });

  test('a v1 receiver rejects a standard signature', () => {
    expect(outcomeOf(() => new Webhook(secret).verify(body, standard))).toBe('missing_header');
    const mixed = { ...v1, 'SVC-Signature': standard['webhook-signature'] ?? '' };
    expect(outcomeOf(() => new Webhook(secret).verify(body, mixed))).not.toBe('accepted');
    expect(outcomeOf(() => new Webhook(secret).verify(body, { ...v1, ...standard }))).toBe('accepted');
  });

  test('a standard receiver rejects a v1 signature', () => {
    const result = standardVerifier(secret).safeVerify(body, v1);
    expect(result.ok ? 'accepted' : result.error.code).toBe('missing_header');
  });
});

describe('a subscription with standard signatures', () => {
  const deliveries: string[] = [];
  const handle = receiver({
    verifier: standardVerifier(secret),
    dedup: memoryDedupStore(),
    onDelivery: ({ webhookId, runId }) => void deliveries.push(`${webhookId} ${runId}`),
  });

  async function send(body: string, change: Record<string, string> = {}): Promise<Response> {
    const headers = { ...signStandard({ body, secret, id: 'msg_1', timestamp: seconds() }), ...change };
    return handle(new Request('http://x/', { method: 'POST', body, headers }));
  }

  const { body } = testDelivery({ secret });
  const own = { 'SVC-Webhook-Id': 'whk_1', 'SVC-Event-Type': 'run.completed' };

  test('is delivered once', async () => {
    deliveries.length = 0;
    expect((await send(body, own)).status).toBe(200);
    expect((await send(body, own)).status).toBe(200);
    expect(deliveries).toEqual(['whk_1 run_00000000000000000001']);
  });

  test.each([
    ['no id of the subscription', {}, 400],
    ['an id that differs between the families', { ...own, 'X-svc-Webhook-Id': 'other' }, 400],
    ['a type that differs between the families', { ...own, 'X-svc-Event-Type': 'other' }, 400],
    ['a type that is not the body’s', { ...own, 'SVC-Event-Type': 'run.failed' }, 400],
    ['another signature', { ...own, 'webhook-signature': `v1,${'A'.repeat(43)}=` }, 401],
  ])('is rejected with %s', async (_title, change, status) => {
    expect((await send(body, change)).status).toBe(status);
  });

  test('accepts only the subscription webhookId, and the challenge, which has no subscription yet', async () => {
    const verifier = standardVerifier(secret, { webhookId: 'whk_1' });
    const only = receiver({ verifier, onDelivery: () => {} });
    const post = async (text: string, headers: Record<string, string>) => {
      const signature = signStandard({ body: text, secret, id: 'msg_1', timestamp: seconds() });
      const init = { method: 'POST', body: text, headers: { ...signature, ...headers } };
      return (await only(new Request('http://x/', init))).status;
    };
    expect(await post(body, own)).toBe(200);
    expect(await post(body, { ...own, 'SVC-Webhook-Id': 'whk_2' })).toBe(401);
    expect(await post(JSON.stringify({ type: VERIFICATION_TYPE, challenge: 'a'.repeat(32) }), {})).toBe(200);
  });

  test('answers the challenge of the endpoint verification', async () => {
    const challenge = randomBytes(24).toString('base64url');
    const answer = await send(JSON.stringify({ type: VERIFICATION_TYPE, challenge }));
    expect([answer.status, await answer.json()]).toEqual([200, { challenge }]);
  });

  test('repeats only signed challenges', async () => {
    const text = JSON.stringify({ type: VERIFICATION_TYPE, challenge: 'a'.repeat(32) });
    expect((await send(text, { 'webhook-signature': `v1,${'A'.repeat(43)}=` })).status).toBe(401);
    for (const challenge of ['<script>alert(1)</script>', '', 'short', 'x'.repeat(513), 7, null]) {
      const answer = await send(JSON.stringify({ type: VERIFICATION_TYPE, challenge }));
      expect([answer.status, await answer.text()]).toEqual([400, '']);
    }
  });
});

describe('the standard headers', () => {
  const good = signStandard({ body: '{}', secret, id: 'msg_1', timestamp: seconds() });

  test.each(Object.keys(good))('%s is required', (name) => {
    const { [name]: _, ...headers } = good;
    expect(outcomeOf(() => new StandardWebhook(secret).verify('{}', headers))).toBe('missing_header');
  });

  test('a list of signatures verifies however a platform has split or joined it', () => {
    const [one = ''] = (good['webhook-signature'] ?? '').split(' ');
    const other = `v1,${'A'.repeat(43)}=`;
    const lists = [[other, one], `${other}, ${one}`, `${other} ${one}`];
    for (const list of lists) {
      expect(outcomeOf(() => new StandardWebhook(secret).verify('{}', { ...good, 'webhook-signature': list }))).toBe(
        'accepted',
      );
    }
  });

  test('throw only our own error for any value', () => {
    const values = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.string()));
    // Once for each header: a value of this length costs as much as a hundred others.
    const examples = Object.keys(good).map((name): [string, string] => [name, 'v1,'.repeat(20_000)]);
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(good)), values, (name, value) => {
        outcomeOf(() => new StandardWebhook(secret).verify('{}', { ...good, [name]: value }));
      }),
      { numRuns: 700, examples },
    );
  });
});
