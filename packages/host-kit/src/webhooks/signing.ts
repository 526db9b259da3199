import { type HeaderFamily, signWith } from '@svc/webhook-verify';
import { signStandardWith } from '@svc/webhook-verify/standard-webhooks';
import type { Delivery } from '../ports/deliveries.ts';
import type { PushTarget, Subscription } from '../ports/subscriptions.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import { PreparedKeys } from './prepared-keys.ts';
import type { PushFormats } from './push-format.ts';

/**
 * Makes the signature headers of one attempt.
 *
 * @param now in ms since the epoch; the timestamp of the signature
 * @throws {Error} when a secret of the subscription cannot be opened, or no mount has the format of the push
 */
export type SignAttempt = (
  delivery: Pick<Delivery, 'deliveryId' | 'eventType' | 'body'>,
  subscription: Subscription,
  now: number,
) => Record<string, string>;

export interface SigningOptions {
  readonly secrets: SecretBox;
  /** Spells the subscription's id for the id header. */
  readonly webhookIdOf: (subscription: Subscription) => string;
  /** The families of header names to send. */
  readonly families: readonly HeaderFamily[];
  /** The formats of pushes. A push is authenticated by the headers of its format, not by a signature. */
  readonly formats?: PushFormats;
}

/**
 * Signs with `v1`, and also with Standard Webhooks where the subscription asked for it. While a rotation overlaps,
 * `v1` signs with the older secret, because it carries one signature; Standard Webhooks carries two and signs with
 * both.
 *
 * @see Interface: Webhook delivery rules, Delivery headers
 */
export function attemptSigner({ secrets, webhookIdOf, families, formats }: SigningOptions): SignAttempt {
  const keys = new PreparedKeys(secrets);
  return ({ deliveryId, eventType, body }, subscription, now) => {
    if (subscription.push !== undefined) return pushHeaders(subscription, subscription.push);
    const timestamp = Math.floor(now / 1000);
    const { sealedSecret, previousSecret, webhookId, signatureAlgorithms } = subscription;
    const newest = keys.of(sealedSecret, webhookId, now);
    const overlapping = previousSecret !== undefined && now < previousSecret.expiresAt;
    const oldest = overlapping ? keys.of(previousSecret.sealed, webhookId, now) : newest;
    const v1 = { body, webhookId: webhookIdOf(subscription), eventType, timestamp, families };
    const headers = signWith(oldest.v1(), v1);
    if (!signatureAlgorithms.includes('standard-webhooks-1')) return headers;
    const both = overlapping ? [newest.standard(), oldest.standard()] : [newest.standard()];
    // The delivery id is the message id: all attempts share it, so a receiver can recognise a repeated delivery.
    return { ...headers, ...signStandardWith(both, { body, id: deliveryId, timestamp }) };
  };

  function pushHeaders({ sealedSecret, webhookId }: Subscription, { format }: PushTarget): Record<string, string> {
    const found = formats?.get(format);
    if (found === undefined)
      throw new Error(`Push format ${format}: no mount of this host has it. Add the mount again.`);
    return found.headers(secrets.open(sealedSecret, webhookId));
  }
}
