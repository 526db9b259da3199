import type { RawBody } from './body.ts';
import { type Delivery, parseDelivery } from './delivery.ts';
import { WebhookVerificationError } from './errors.ts';
import type { HeaderSource } from './headers.ts';
import type { Hmac } from './hmac/hmac.ts';
import { prepareSecret, secretList } from './secret.ts';
import { checkedTolerance } from './timestamp.ts';
import { type VerifyRules, verifyDelivery, verifySignature } from './verify.ts';

export interface WebhookOptions {
  /** How far the signing time may be from now, either way, inclusive. Default 300, the interface's. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /**
   * The subscription's id as the registration returned it. The signature does not cover the header that carries it, so without this
   * a delivery that somebody has captured passes deduplication once for each id that they write on it, for as long as it is fresh.
   */
  readonly webhookId?: string | undefined;
}

export type Verification =
  | { readonly ok: true; readonly delivery: Delivery }
  | { readonly ok: false; readonly error: WebhookVerificationError };

/** Bytes that are authentic and fresh, with their content still to be read. */
export interface SignedDelivery {
  /** The subscription's id, from the header; not covered by the signature. */
  readonly webhookId: string;
  /** Unix seconds at signing. */
  readonly timestamp: number;
  /** Parses the body. @throws {WebhookVerificationError} `malformed_body`, `event_type_mismatch` */
  read(): Delivery;
}

/**
 * Verifies the deliveries of one subscription.
 *
 * @example
 * const webhook = new Webhook(secret);
 * const delivery = webhook.verify(new Uint8Array(await request.arrayBuffer()), request.headers);
 * @see Interface: Subscriber verification recipe
 */
export class Webhook {
  readonly #secrets: readonly Hmac[];
  readonly #toleranceSeconds: number;
  readonly #now: () => number;
  readonly #webhookId: string | undefined;

  /**
   * @param secret the subscription's secret as the registration returned it; several while the old one is still in use
   * @throws {TypeError} for an empty secret, none at all, or a tolerance that is not a positive number
   */
  constructor(secret: string | readonly string[], options: WebhookOptions = {}) {
    this.#secrets = secretList(secret).map(prepareSecret);
    this.#toleranceSeconds = checkedTolerance(options.toleranceSeconds);
    this.#now = options.now ?? Date.now;
    this.#webhookId = options.webhookId;
  }

  /**
   * @param body the bytes or text as received; a parsed object is a TypeError
   * @throws {WebhookVerificationError} when the delivery is not authentic, fresh and well-formed
   */
  verify(body: RawBody, headers: HeaderSource): Delivery {
    return verifyDelivery(body, headers, this.#rules());
  }

  /** As `verify`, with the refusal as a value. A parsed body still throws: that is a mistake in the program. */
  safeVerify(body: RawBody, headers: HeaderSource): Verification {
    try {
      return { ok: true, delivery: this.verify(body, headers) };
    } catch (error) {
      if (WebhookVerificationError.is(error)) return { ok: false, error };
      throw error;
    }
  }

  /**
   * As `verify`, without parsing the body: for receivers that only pass authentic bytes on, such as a queue's front door.
   *
   * @throws {WebhookVerificationError} when the bytes are not authentic and fresh
   */
  verifySignature(body: RawBody, headers: HeaderSource): SignedDelivery {
    const { headers: claims, timestamp, body: raw } = verifySignature(body, headers, this.#rules());
    return { webhookId: claims.webhookId, timestamp, read: () => parseDelivery(raw, claims, timestamp) };
  }

  #rules(): VerifyRules {
    return {
      secrets: this.#secrets,
      now: this.#now(),
      toleranceSeconds: this.#toleranceSeconds,
      webhookId: this.#webhookId,
    };
  }
}
