import { randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import { Webhook } from '@svc/webhook-verify';
import { StandardWebhook } from '@svc/webhook-verify/standard-webhooks';
import fc from 'fast-check';
import { Webhook as PublicWebhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import type { Subscription } from '../../src/ports/subscriptions.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { attemptSigner } from '../../src/webhooks/signing.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

const NOW = 1_780_000_000_123;
const box = secretBox(randomBytes(32), randomBytes);
const sign = attemptSigner({ secrets: box, webhookIdOf: ({ webhookId }) => webhookId, families: ['SVC', 'X-svc'] });
const body = new TextEncoder().encode(
  JSON.stringify({ runId: 'run_1', workspaceId: 'w', event: { type: 'run.completed', runId: 'run_1', sequence: 0 } }),
);
const delivery = sampleDelivery({ deliveryId: 'dlv_01kahx3zr8p60000000000', body });

const standardSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

function subscriptionOf(secret: string, fields: Partial<Subscription> = {}): Subscription {
  return sampleSubscription({
    sealedSecret: box.seal(secret, 'whk_1'),
    signatureAlgorithms: ['v1', 'standard-webhooks-1'],
    ...fields,
  });
}

function rotated(older: string, newer: string, expiresAt: number): Subscription {
  const previousSecret = { sealed: box.seal(older, 'whk_1'), replacedAt: 0, expiresAt };
  return subscriptionOf(newer, { previousSecret });
}

const v1Accepts = (secret: string, headers: Record<string, string>, now = NOW) => {
  try {
    new Webhook(secret, { now: () => now }).verifySignature(body, headers);
    return true;
  } catch {
    return false;
  }
};
const standardAccepts = (secret: string, headers: Record<string, string>, now = NOW) => {
  try {
    new StandardWebhook(secret, { now: () => now }).verify(body, headers);
    return true;
  } catch {
    return false;
  }
};

describe(covers('webhooks.signature.standard-opt-in'), () => {
  test('sends only the v1 headers to a subscription that did not ask for Standard Webhooks', () => {
    const secret = standardSecret();
    const headers = sign(delivery, subscriptionOf(secret, { signatureAlgorithms: ['v1'] }), NOW);
    expect(Object.keys(headers).every((name) => /^(SVC|X-svc)-/.test(name))).toBe(true);
    expect(v1Accepts(secret, headers)).toBe(true);
  });

  test('sends both signatures with one timestamp to a subscription that asked; the algorithm header stays v1', () => {
    const secret = standardSecret();
    const headers = sign(delivery, subscriptionOf(secret), NOW);
    expect(headers['webhook-timestamp']).toBe(headers['SVC-Timestamp']);
    expect(headers['SVC-Timestamp']).toBe('1780000000');
    expect([headers['SVC-Signature-Algorithm'], headers['X-svc-Signature-Algorithm']]).toEqual(['v1', 'v1']);
    expect([v1Accepts(secret, headers), standardAccepts(secret, headers)]).toEqual([true, true]);
  });

  test('the official Standard Webhooks verifier accepts the signature', () => {
    const secret = standardSecret();
    const now = Date.now();
    const headers = sign(delivery, subscriptionOf(secret), now);
    expect(new PublicWebhook(secret).verify(Buffer.from(body), headers)).toMatchObject({ runId: 'run_1' });
    const changed = Buffer.from(body).fill(' ', 0, 1);
    expect(() => new PublicWebhook(secret).verify(changed, headers)).toThrow();
    expect(() => new PublicWebhook(standardSecret()).verify(Buffer.from(body), headers)).toThrow();
  });
});

describe(covers('webhooks.signature.standard-id-stable', 'webhooks.delivery.signed-per-attempt'), () => {
  test('attempts of one delivery share the id and differ in timestamp and signature; other deliveries have other ids', () => {
    const subscription = subscriptionOf(standardSecret());
    const [first, second] = [0, 5000].map((later) => sign({ ...delivery }, subscription, NOW + later));
    expect(first?.['webhook-id']).toMatch(/^[A-Za-z0-9_-]{16,128}$/);
    expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
    expect(second?.['webhook-timestamp']).not.toBe(first?.['webhook-timestamp']);
    expect(second?.['webhook-signature']).not.toBe(first?.['webhook-signature']);
    expect(second?.['SVC-Signature']).not.toBe(first?.['SVC-Signature']);
    const other = sign({ ...delivery, deliveryId: 'dlv_01kahx3zr8p60000000001' }, subscription, NOW);
    expect(other['webhook-id']).not.toBe(first?.['webhook-id']);
  });
});

describe(covers('webhooks.signature.standard-rotation'), () => {
  test('signs with both secrets during the overlap, v1 with the older; after it with the newer alone', () => {
    const times = fc.integer({ min: -100_000, max: 100_000 });
    fc.assert(
      fc.property(times, (untilEnd) => {
        const [older, newer, stranger] = [standardSecret(), standardSecret(), standardSecret()];
        const headers = sign(delivery, rotated(older, newer, NOW + untilEnd), NOW);
        const overlaps = untilEnd > 0;
        const entries = headers['webhook-signature']?.split(' ') ?? [];
        expect(entries.every((entry) => /^v1,[A-Za-z0-9+/]{43}=$/.test(entry))).toBe(true);
        expect(entries.length).toBe(overlaps ? 2 : 1);
        expect([standardAccepts(older, headers), standardAccepts(newer, headers)]).toEqual([overlaps, true]);
        expect([v1Accepts(older, headers), v1Accepts(newer, headers)]).toEqual([overlaps, !overlaps]);
        expect([standardAccepts(stranger, headers), v1Accepts(stranger, headers)]).toEqual([false, false]);
      }),
    );
  });

  test('does not open a secret after its overlap', () => {
    const secret = standardSecret();
    const previousSecret = { sealed: new Uint8Array(40), replacedAt: 0, expiresAt: NOW };
    expect(v1Accepts(secret, sign(delivery, subscriptionOf(secret, { previousSecret }), NOW))).toBe(true);
    const valid = { ...previousSecret, expiresAt: NOW + 1 };
    expect(() => sign(delivery, subscriptionOf(secret, { previousSecret: valid }), NOW)).toThrow();
  });
});
