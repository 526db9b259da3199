import { describe, expect, test } from 'vitest';
import { signDelivery, Webhook, WebhookVerificationError } from '../src/index.ts';

const secret = 'a secret';
const now = 1_700_000_000;
const webhook = new Webhook(secret, { now: () => now * 1000 });
const event = {
  runId: 'run_1',
  sequence: 3,
  type: 'run.completed',
  timestamp: '2023-11-14T22:13:20Z',
  payload: { a: [1] },
};

function signed(body: string, eventType = 'run.completed') {
  return signDelivery({ body, secret, webhookId: 'whk_1', eventType, timestamp: now, families: ['SVC'] });
}

const lazy = (body: string, headers = signed(body)) => webhook.verify(body, headers, { payload: 'lazy' });

describe("verify with payload: 'lazy'", () => {
  test.each([
    ['without a workspace', { runId: 'run_1', event }],
    ['with a workspace', { runId: 'run_1', workspaceId: 'acme', event }],
  ])('returns a delivery equal to the eager one: %s', (_title, content) => {
    const body = JSON.stringify(content);
    const eager = webhook.verify(body, signed(body), { payload: 'eager' });
    const delivery = lazy(body);
    expect({ ...delivery }).toEqual(eager);
    expect(JSON.parse(JSON.stringify(delivery))).toEqual(JSON.parse(JSON.stringify(eager)));
    expect(delivery.event).toBe(delivery.event);
  });

  test.each([
    ['is no JSON', '{', 'run.completed', 'malformed_body'],
    ['has no event', '{"runId":"run_1"}', 'run.completed', 'malformed_body'],
    [
      'has another type than the header',
      JSON.stringify({ runId: 'run_1', event }),
      'run.failed',
      'event_type_mismatch',
    ],
  ])('throws at the first access when a signed body %s', (_title, body, eventType, code) => {
    const delivery = lazy(body, signed(body, eventType));
    expect([delivery.webhookId, delivery.timestamp]).toEqual(['whk_1', now]);
    for (const name of ['eventType', 'runId', 'workspaceId', 'event', 'event'] as const) {
      expect(() => delivery[name]).toThrow(expect.objectContaining({ code }));
    }
  });

  test.each([
    ['of another body', '{"runId":"run_2"}', 'signature_mismatch', now],
    ['that is old', undefined, 'timestamp_out_of_range', now - 301],
  ])('rejects a signature %s at once', (_title, other, code, at) => {
    const body = JSON.stringify({ runId: 'run_1', event });
    const headers = signDelivery({
      body,
      secret,
      webhookId: 'whk_1',
      eventType: 'run.completed',
      timestamp: at,
      families: ['SVC'],
    });
    const rejected = () => lazy(other ?? body, headers);
    expect(rejected).toThrow(WebhookVerificationError);
    expect(rejected).toThrow(expect.objectContaining({ code }));
  });

  test('throws for an unknown option', () => {
    const body = JSON.stringify({ runId: 'run_1', event });
    const options: object = { playload: 'lazy' };
    expect(() => webhook.verify(body, signed(body), options)).toThrow(
      new TypeError('verify: unknown option playload. Did you mean payload?'),
    );
  });
});
