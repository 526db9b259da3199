import { type HeaderFamily, signDelivery } from '@svc/webhook-verify';
import { signStandard } from '@svc/webhook-verify/standard-webhooks';
import type { Delivery } from '../ports/deliveries.ts';
import type { PushTarget, Subscription } from '../ports/subscriptions.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import type { PushFormats } from './push-format.ts';

/**
 * The signature headers of one attempt, signed afresh.
 *
 * @param now in ms
 * @throws {Error} when a secret of the subscription cannot be opened
 */
export type SignAttempt = (
  delivery: Pick<Delivery, 'deliveryId' | 'eventType' | 'body'>,
  subscription: Subscription,
  now: number,
) => Record<string, string>;

export interface SigningOptions {
  readonly secrets: SecretBox;
  /** How a delivery names its subscription in the id header. */
  readonly webhookIdOf: (subscription: Subscription) => string;
  readonly families: readonly HeaderFamily[];
  /** A push is not signed as a delivery is: its format says how a receiver knows it. */
  readonly formats?: PushFormats;
}

/**
 * Signs by `v1`, and beside it by Standard Webhooks where the subscription asked for that. While a rotation overlaps, the one `v1`
 * signature stays with the older secret, and Standard Webhooks, which has room for both, signs with both.
 *
 * @see Interface: Webhook delivery rules, Delivery headers
 */
export function attemptSigner({ secrets, webhookIdOf, families, formats }: SigningOptions): SignAttempt {
  return ({ deliveryId, eventType, body }, subscription, now) => {
    if (subscription.push !== undefined) return pushHeaders(subscription, subscription.push);
    const timestamp = Math.floor(now / 1000);
    const { sealedSecret, previousSecret, webhookId, signatureAlgorithms } = subscription;
    const newest = secrets.open(sealedSecret, webhookId);
    const overlapping = previousSecret !== undefined && now < previousSecret.expiresAt;
    const oldest = overlapping ? secrets.open(previousSecret.sealed, webhookId) : newest;
    const v1 = { body, secret: oldest, webhookId: webhookIdOf(subscription), eventType, timestamp, families };
    if (!signatureAlgorithms.includes('standard-webhooks-1')) return signDelivery(v1);
    const secret = overlapping ? [newest, oldest] : newest;
    // There is one delivery of an event to a subscription, so its id is the message's for as long as it is attempted.
    return { ...signDelivery(v1), ...signStandard({ body, secret, id: deliveryId, timestamp }) };
  };

  function pushHeaders({ sealedSecret, webhookId }: Subscription, { format }: PushTarget): Record<string, string> {
    const found = formats?.get(format);
    if (found === undefined) throw new Error(`This host has no mount that words pushes as ${format}.`);
    return found.headers(secrets.open(sealedSecret, webhookId));
  }
}
