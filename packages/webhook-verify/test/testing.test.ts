import { describe, expect, test } from 'vitest';
import { Webhook, type WebhookVerificationErrorCode } from '../src/index.ts';
import { invalidDeliveries, testDelivery } from '../src/testing/index.ts';

const secret = 'a secret of the tests';
const now = () => 1_700_000_000_000;

describe('the test kit', () => {
  test.each([[['SVC'] as const], [['X-svc'] as const], [['SVC', 'X-svc'] as const]])(
    'makes a delivery with the header families %j',
    (families) => {
      const { body, headers } = testDelivery({
        secret,
        families,
        now,
        type: 'run.failed',
        payload: { error: { message: 'm' } },
      });
      const delivery = new Webhook(secret, { now }).verify(body, headers);
      expect(delivery).toMatchObject({ eventType: 'run.failed', event: { payload: { error: { message: 'm' } } } });
    },
  );

  test('applies its options', () => {
    const { body, headers } = testDelivery({ secret, webhookId: 'w', runId: 'r', workspaceId: 'ws', sequence: 9 });
    const { event, ...rest } = new Webhook(secret).verify(body, headers);
    expect(rest).toMatchObject({ webhookId: 'w', runId: 'r', workspaceId: 'ws' });
    expect(event.sequence).toBe(9);
  });

  test.each(invalidDeliveries({ secret, now }))('makes a delivery $why', ({ body, headers, code }) => {
    const result = new Webhook(secret, { now }).safeVerify(body, headers);
    expect(result.ok ? 'accepted' : result.error.code).toBe(code);
  });

  test('makes a delivery for every code that a sender can cause', () => {
    const made = new Set<WebhookVerificationErrorCode>(invalidDeliveries({ secret }).map(({ code }) => code));
    const all: Record<WebhookVerificationErrorCode, boolean> = {
      missing_header: true,
      // An object of headers cannot say the same name twice.
      repeated_header: false,
      header_mismatch: true,
      // For a receiver that names its subscription.
      webhook_id_mismatch: false,
      malformed_timestamp: true,
      timestamp_out_of_range: true,
      unknown_algorithm: true,
      malformed_signature: true,
      signature_mismatch: true,
      malformed_body: true,
      event_type_mismatch: true,
    };
    expect(
      Object.fromEntries(Object.keys(all).map((code) => [code, made.has(code as WebhookVerificationErrorCode)])),
    ).toEqual(all);
  });
});
