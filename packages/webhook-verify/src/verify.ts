import { rawBody } from './body.ts';
import { type Delivery, parseDelivery } from './delivery.ts';
import { WebhookVerificationError } from './errors.ts';
import { type HeaderSource, readDeliveryHeaders } from './headers.ts';
import type { Hmac } from './hmac/hmac.ts';
import { parseSignature, SIGNATURE_ALGORITHM, sameDigest } from './signature.ts';
import { parseTimestamp, requireFresh } from './timestamp.ts';

export interface VerifyRules {
  /** Prepared by `prepareSecret`; several while a rotation overlaps. */
  readonly secrets: readonly Hmac[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly toleranceSeconds: number;
}

/**
 * The verification recipe as one pure function: freshness, algorithm, signature, and only then the body.
 *
 * @throws {WebhookVerificationError} when the delivery is not authentic, fresh and well-formed
 * @throws {TypeError} when the body was parsed before it came here
 * @see Interface: Subscriber verification recipe
 */
export function verifyDelivery(body: unknown, source: HeaderSource, rules: VerifyRules): Delivery {
  const raw = rawBody(body);
  const headers = readDeliveryHeaders(source);
  const timestamp = parseTimestamp(headers.timestamp);
  requireFresh(timestamp, rules.now, rules.toleranceSeconds);
  if (headers.algorithm !== undefined && headers.algorithm !== SIGNATURE_ALGORITHM) {
    throw new WebhookVerificationError('unknown_algorithm', undefined);
  }
  const claimed = parseSignature(headers.signature);
  if (!anySigned(rules.secrets, `${headers.timestamp}.`, raw, claimed)) {
    throw new WebhookVerificationError('signature_mismatch', undefined);
  }
  return parseDelivery(raw, headers, timestamp);
}

/** Tries every secret, so that the time taken does not tell which one fits. */
function anySigned(secrets: readonly Hmac[], prefix: string, body: Uint8Array | string, claimed: Uint8Array): boolean {
  let signed = false;
  for (const hmac of secrets) signed = sameDigest(hmac(prefix, body), claimed) || signed;
  return signed;
}
