import { rawBody } from './body.ts';
import { HEADER_NAMES, type HeaderFamily } from './headers.ts';
import type { Hmac } from './hmac/hmac.ts';
import { type OptionNames, requireKnown } from './known-options.ts';
import { prepareSecret } from './secret.ts';
import { SIGNATURE_ALGORITHM, SIGNATURE_PREFIX } from './signature.ts';

/** The input of {@link signDelivery}. */
export interface SignDeliveryInput {
  /** The exact bytes that will be sent. */
  readonly body: Uint8Array | string;
  /** The secret of the subscription. */
  readonly secret: string;
  /** The id of the subscription. */
  readonly webhookId: string;
  /** The type of the event. */
  readonly eventType: string;
  /** The time of signing in whole Unix seconds. */
  readonly timestamp: number;
  /** The header families to send, at least one. A host that serves major 1 sends both. */
  readonly families: readonly HeaderFamily[];
}

const SIGN_INPUT: OptionNames<SignDeliveryInput> = {
  body: true,
  secret: true,
  webhookId: true,
  eventType: true,
  timestamp: true,
  families: true,
};

/**
 * Returns the signature headers of one delivery, with the same values in each of the families.
 *
 * @throws {TypeError} when the secret is invalid, the timestamp is not whole seconds, or there is no family
 * @example
 * import { signDelivery } from '@svc/webhook-verify';
 *
 * const body = JSON.stringify({ runId: 'run_1', event: {} });
 * const timestamp = Math.floor(Date.now() / 1000);
 * const headers = signDelivery({
 *   body, secret: 'a secret', webhookId: 'whk_1', eventType: 'run.completed', timestamp, families: ['SVC', 'X-svc'],
 * });
 * await fetch('http://localhost:8788/', { method: 'POST', body, headers });
 * @see Interface: Webhook delivery rules, Delivery headers
 */
export function signDelivery(input: SignDeliveryInput): Record<string, string> {
  requireKnown('signDelivery', input, SIGN_INPUT);
  return signWith(prepareSecret(input.secret), input);
}

/**
 * Does the same as `signDelivery`, with a secret that `prepareSecret` has prepared once for many deliveries.
 *
 * @throws {TypeError} when the timestamp is not whole seconds, or there is no family
 * @example
 * import { prepareSecret, signWith } from '@svc/webhook-verify';
 *
 * const hmac = prepareSecret('a secret');
 * const timestamp = Math.floor(Date.now() / 1000);
 * const families = ['SVC', 'X-svc'] as const;
 * console.log(signWith(hmac, { body: '{}', webhookId: 'whk_1', eventType: 'run.started', timestamp, families }));
 */
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
