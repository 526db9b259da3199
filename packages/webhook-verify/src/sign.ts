import { rawBody } from './body.ts';
import { HEADER_NAMES, type HeaderFamily } from './headers.ts';
import type { Hmac } from './hmac/hmac.ts';
import { prepareSecret } from './secret.ts';
import { SIGNATURE_ALGORITHM, SIGNATURE_PREFIX } from './signature.ts';

export interface SignDeliveryInput {
  /** The exact bytes that will be sent. */
  readonly body: Uint8Array | string;
  readonly secret: string;
  readonly webhookId: string;
  readonly eventType: string;
  /** Unix seconds, a whole number. */
  readonly timestamp: number;
  /** Which families to send. During an overlap of both majors: both. */
  readonly families: readonly HeaderFamily[];
}

/**
 * The signature headers of one delivery, with the same values in every family asked for.
 *
 * @throws {TypeError} for a timestamp that is not whole seconds, or no family
 * @see Interface: Webhook delivery rules, Delivery headers
 */
export function signDelivery(input: SignDeliveryInput): Record<string, string> {
  return signWith(prepareSecret(input.secret), input);
}

/** As `signDelivery`, with a secret prepared once for many deliveries. */
export function signWith(hmac: Hmac, input: Omit<SignDeliveryInput, 'secret'>): Record<string, string> {
  const { webhookId, eventType, timestamp, families } = input;
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) {
    throw new TypeError('timestamp: must be Unix time in whole seconds. Pass Math.floor(Date.now() / 1000).');
  }
  if (families.length === 0) throw new TypeError("families: must name at least one header family. Pass ['SVC'].");
  const signature = SIGNATURE_PREFIX + hmac(`${timestamp}.`, rawBody(input.body));
  const headers: Record<string, string> = {};
  for (const family of families) {
    const names = HEADER_NAMES[family];
    headers[names.webhookId] = webhookId;
    headers[names.eventType] = eventType;
    headers[names.timestamp] = String(timestamp);
    headers[names.signature] = signature;
    headers[names.algorithm] = SIGNATURE_ALGORITHM;
  }
  return headers;
}
