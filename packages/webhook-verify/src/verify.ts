import { rawBody } from './body.ts';
import { type Delivery, parseDelivery } from './delivery.ts';
import { WebhookVerificationError } from './errors.ts';
import { type DeliveryHeaders, type HeaderSource, readDeliveryHeaders } from './headers.ts';
import type { Hmac } from './hmac/hmac.ts';
import { parseSignature, SIGNATURE_ALGORITHM, sameDigest } from './signature.ts';
import { parseTimestamp, requireFresh } from './timestamp.ts';

export interface VerifyRules {
  /** Prepared by `prepareSecret`; several while a rotation overlaps. */
  readonly secrets: readonly Hmac[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly toleranceSeconds: number;
  /** The one subscription whose deliveries are accepted; without it, of any that signs with the secret. */
  readonly webhookId?: string | undefined;
}

/** A body that is authentic and fresh, and not parsed yet. */
export interface SignedBody {
  readonly headers: DeliveryHeaders;
  /** Unix seconds at signing. */
  readonly timestamp: number;
  /** What was signed, as it was passed in. */
  readonly body: Uint8Array | string;
}

/**
 * The verification recipe as one pure function: freshness, algorithm, signature, and only then the body.
 *
 * @throws {WebhookVerificationError} when the delivery is not authentic, fresh and well-formed
 * @throws {TypeError} when the body was parsed before it came here
 * @see Interface: Subscriber verification recipe
 */
export function verifyDelivery(body: unknown, source: HeaderSource, rules: VerifyRules): Delivery {
  const signed = verifySignature(body, source, rules);
  return parseDelivery(signed.body, signed.headers, signed.timestamp);
}

/** The recipe up to the body: everything that is needed to trust the bytes, and nothing of what they say. */
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

/** Tries every secret, so that the time taken does not tell which one fits. */
function anySigned(secrets: readonly Hmac[], prefix: string, body: Uint8Array | string, claimed: string): boolean {
  let signed = false;
  for (const hmac of secrets) signed = sameDigest(hmac(prefix, body), claimed) || signed;
  return signed;
}
