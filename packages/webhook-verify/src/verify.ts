import { rawBody } from './body.ts';
import { type Delivery, parseDelivery } from './delivery.ts';
import { WebhookVerificationError } from './errors.ts';
import { type DeliveryHeaders, type HeaderSource, readDeliveryHeaders } from './headers.ts';
import type { Hmac } from './hmac/hmac.ts';
import { parseSignature, SIGNATURE_ALGORITHM, sameDigest } from './signature.ts';
import { parseTimestamp, requireFresh } from './timestamp.ts';

/** The rules of one verification. */
export interface VerifyRules {
  /** The secrets, prepared by `prepareSecret`; several while a rotation overlaps. */
  readonly secrets: readonly Hmac[];
  /** The current time in milliseconds since the epoch. */
  readonly now: number;
  /** The largest difference between the time of signing and `now`, in seconds, inclusive. */
  readonly toleranceSeconds: number;
  /** The id of the only accepted subscription. Default: every subscription that signs with one of the secrets. */
  readonly webhookId?: string | undefined;
}

/** A body that is authentic and fresh, and not parsed yet. */
export interface SignedBody {
  /** The signature headers. */
  readonly headers: DeliveryHeaders;
  /** The time of signing in Unix seconds. */
  readonly timestamp: number;
  /** The signed body, as it was passed in. */
  readonly body: Uint8Array | string;
}

/**
 * Verifies a delivery by the recipe: freshness, algorithm, signature, and only then the body. It is a pure function.
 *
 * @param body the bytes or text as received
 * @throws {WebhookVerificationError} when the delivery is not authentic, fresh and well-formed
 * @throws {TypeError} when the body is a parsed object
 * @example
 * import { prepareSecret, verifyDelivery } from '@svc/webhook-verify';
 * import { testDelivery } from '@svc/webhook-verify/testing';
 *
 * const { body, headers } = testDelivery({ secret: 'a secret' });
 * const rules = { secrets: [prepareSecret('a secret')], now: Date.now(), toleranceSeconds: 300 };
 * console.log(verifyDelivery(body, headers, rules).eventType); // run.completed
 * @see Interface: Subscriber verification recipe
 */
export function verifyDelivery(body: unknown, source: HeaderSource, rules: VerifyRules): Delivery {
  const signed = verifySignature(body, source, rules);
  return parseDelivery(signed.body, signed.headers, signed.timestamp);
}

/**
 * Verifies the bytes of a delivery by the recipe, without parsing the body.
 *
 * @param body the bytes or text as received
 * @throws {WebhookVerificationError} when the bytes are not authentic and fresh
 * @throws {TypeError} when the body is a parsed object
 * @example
 * import { prepareSecret, verifySignature } from '@svc/webhook-verify';
 * import { testDelivery } from '@svc/webhook-verify/testing';
 *
 * const { body, headers } = testDelivery({ secret: 'a secret' });
 * const rules = { secrets: [prepareSecret('a secret')], now: Date.now(), toleranceSeconds: 300 };
 * console.log(verifySignature(body, headers, rules).headers.webhookId);
 */
export function verifySignature(body: unknown, source: HeaderSource, rules: VerifyRules): SignedBody {
  const raw = rawBody(body);
  const headers = readDeliveryHeaders(source);
  if (rules.webhookId !== undefined && headers.webhookId !== rules.webhookId) {
    throw new WebhookVerificationError('webhook_id_mismatch', undefined);
  }
  const timestamp = parseTimestamp(headers.timestamp);
  requireFresh(timestamp, rules.now, rules.toleranceSeconds);
  if (headers.algorithm !== undefined && headers.algorithm !== SIGNATURE_ALGORITHM) {
    throw new WebhookVerificationError('unknown_algorithm', undefined);
  }
  const claimed = parseSignature(headers.signature);
  if (!anySigned(rules.secrets, `${headers.timestamp}.`, raw, claimed)) {
    throw new WebhookVerificationError('signature_mismatch', undefined);
  }
  return { headers, timestamp, body: raw };
}

/**
 * Whether a secret gives the signature. It tries every secret, so that its duration does not reveal the one that fits.
 */
function anySigned(secrets: readonly Hmac[], prefix: string, body: Uint8Array | string, claimed: string): boolean {
  let signed = false;
  for (const hmac of secrets) signed = sameDigest(hmac(prefix, body), claimed) || signed;
  return signed;
}
