import { rawBody } from './body.ts';
import { type DeliveryHeaders, HEADER_NAMES, type HeaderFamily } from './headers.ts';
import type { Hmac } from './hmac/hmac.ts';
import { prepareSecret } from './secret.ts';
import { formatSignature, SIGNATURE_ALGORITHM } from './signature.ts';

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
  if (!Number.isSafeInteger(timestamp) || timestamp < 0)
    throw new TypeError('timestamp must be Unix time in whole seconds.');
  if (families.length === 0) throw new TypeError('families must name at least one header family.');
  const values: Readonly<Record<keyof DeliveryHeaders, string>> = {
    webhookId,
    eventType,
    timestamp: String(timestamp),
    signature: formatSignature(hmac(`${timestamp}.`, rawBody(input.body))),
    algorithm: SIGNATURE_ALGORITHM,
  };
  const headers: Record<string, string> = {};
  for (const family of families) {
    headers[HEADER_NAMES[family].webhookId] = values.webhookId;
    headers[HEADER_NAMES[family].eventType] = values.eventType;
    headers[HEADER_NAMES[family].timestamp] = values.timestamp;
    headers[HEADER_NAMES[family].signature] = values.signature;
    headers[HEADER_NAMES[family].algorithm] = values.algorithm;
  }
  return headers;
}
