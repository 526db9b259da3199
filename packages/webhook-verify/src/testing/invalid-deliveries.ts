import type { WebhookVerificationErrorCode } from '../errors.ts';
import { HEADER_NAMES } from '../headers.ts';
import { signDelivery } from '../sign.ts';
import { TOLERANCE_SECONDS } from '../timestamp.ts';
import { type TestDelivery, type TestDeliveryOptions, testDelivery } from './test-delivery.ts';

/** A delivery that a receiver must reject. */
export interface InvalidDelivery extends TestDelivery {
  /** The defect in words, for the title of a test. */
  readonly why: string;
  /** The code of the expected rejection. */
  readonly code: WebhookVerificationErrorCode;
}

/**
 * Makes one delivery for each defect, for the tests of a subscriber: none of them may reach its handler.
 *
 * @throws {TypeError} when the secret is invalid
 * @example
 * import { receive } from '@svc/webhook-verify/receive';
 * import { invalidDeliveries } from '@svc/webhook-verify/testing';
 *
 * const handle = receive({ secret: 'a secret', onDelivery: () => console.log('never') });
 * for (const { why, body, headers } of invalidDeliveries({ secret: 'a secret' })) {
 *   console.log(why, (await handle(body, headers)).status); // 400 or 401
 * }
 */
export function invalidDeliveries(options: TestDeliveryOptions): InvalidDelivery[] {
  const { now = Date.now } = options;
  const good = testDelivery(options);
  const signedAt = (seconds: number) => testDelivery({ ...options, now: () => now() + seconds * 1000 });
  const otherSecret = testDelivery({ ...options, secret: `${options.secret}x` });
  return [
    wrong('without a signature', 'missing_header', without(good, SVC.signature, X_SVC.signature)),
    wrong('without a timestamp', 'missing_header', without(good, SVC.timestamp, X_SVC.timestamp)),
    wrong('without a webhook id', 'missing_header', without(good, SVC.webhookId, X_SVC.webhookId)),
    wrong('with families that disagree', 'header_mismatch', {
      ...good,
      headers: {
        ...testDelivery({ ...options, families: ['SVC'] }).headers,
        [X_SVC.signature]: `sha256=${'0'.repeat(64)}`,
      },
    }),
    wrong('with a timestamp that is no number', 'malformed_timestamp', replaced(good, 'timestamp', '1e9')),
    wrong('signed too long ago', 'timestamp_out_of_range', signedAt(-TOLERANCE_SECONDS - 60)),
    wrong('signed in the future', 'timestamp_out_of_range', signedAt(TOLERANCE_SECONDS + 60)),
    wrong('of an unknown algorithm', 'unknown_algorithm', replaced(good, 'algorithm', 'v0')),
    wrong('with a signature of another form', 'malformed_signature', replaced(good, 'signature', 'sha256=00')),
    wrong('with a signature of zeros', 'signature_mismatch', replaced(good, 'signature', `sha256=${'0'.repeat(64)}`)),
    wrong('signed with another secret', 'signature_mismatch', otherSecret),
    wrong('with another body', 'signature_mismatch', { ...good, body: `${good.body} ` }),
    wrong('with a body that is not JSON', 'malformed_body', resigned(options, good, '{')),
    wrong('with a body that is not a delivery', 'malformed_body', resigned(options, good, '{}')),
    wrong('with another event type in its headers', 'event_type_mismatch', replaced(good, 'eventType', 'run.other')),
  ];
}

const { SVC, 'X-svc': X_SVC } = HEADER_NAMES;

function wrong(why: string, code: WebhookVerificationErrorCode, delivery: TestDelivery): InvalidDelivery {
  return { ...delivery, why, code };
}

function without(delivery: TestDelivery, ...names: readonly string[]): TestDelivery {
  const kept = Object.entries(delivery.headers).filter(([name]) => !names.includes(name));
  return { ...delivery, headers: Object.fromEntries(kept) };
}

/** Replaces a header in each family that the delivery has. */
function replaced(delivery: TestDelivery, field: keyof typeof SVC, value: string): TestDelivery {
  const names = [SVC[field], X_SVC[field]].filter((name) => name in delivery.headers);
  return { ...delivery, headers: { ...delivery.headers, ...Object.fromEntries(names.map((name) => [name, value])) } };
}

function resigned(options: TestDeliveryOptions, good: TestDelivery, body: string): TestDelivery {
  const { now = Date.now, secret, webhookId = 'whk_00000000000000000001', type = 'run.completed' } = options;
  const timestamp = Math.floor(now() / 1000);
  const families = options.families ?? ['SVC', 'X-svc'];
  const headers = signDelivery({ body, secret, webhookId, eventType: type, timestamp, families });
  return { ...good, headers: { ...good.headers, ...headers }, body };
}
