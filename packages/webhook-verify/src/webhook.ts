import type { RawBody } from './body.ts';
import type { Delivery } from './delivery.ts';
import { WebhookVerificationError } from './errors.ts';
import type { HeaderSource } from './headers.ts';
import type { Hmac } from './hmac/hmac.ts';
import { prepareSecret } from './secret.ts';
import { TOLERANCE_SECONDS } from './timestamp.ts';
import { verifyDelivery } from './verify.ts';

export interface WebhookOptions {
  /** How far the signing time may be from now, either way, inclusive. Default 300, the interface's. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

export type Verification =
  | { readonly ok: true; readonly delivery: Delivery }
  | { readonly ok: false; readonly error: WebhookVerificationError };

/**
 * Verifies the deliveries of one subscription.
 *
 * @example
 * const webhook = new Webhook(process.env.WEBHOOK_SECRET);
 * const delivery = webhook.verify(new Uint8Array(await request.arrayBuffer()), request.headers);
 * @see Interface: Subscriber verification recipe
 */
export class Webhook {
  readonly #secrets: readonly Hmac[];
  readonly #toleranceSeconds: number;
  readonly #now: () => number;

  /**
   * @param secret the subscription's secret as the registration returned it; several while the old one is still in use
   * @throws {TypeError} for an empty secret, none at all, or a tolerance that is not a positive number
   */
  constructor(secret: string | readonly string[], options: WebhookOptions = {}) {
    const secrets = typeof secret === 'string' ? [secret] : secret;
    if (!Array.isArray(secrets) || secrets.length === 0) throw new TypeError('Webhook needs at least one secret.');
    this.#secrets = secrets.map(prepareSecret);
    this.#toleranceSeconds = positive(options.toleranceSeconds ?? TOLERANCE_SECONDS);
    this.#now = options.now ?? Date.now;
  }

  /**
   * @param body the bytes or text as received; a parsed object is a TypeError
   * @throws {WebhookVerificationError} when the delivery is not authentic, fresh and well-formed
   */
  verify(body: RawBody, headers: HeaderSource): Delivery {
    return verifyDelivery(body, headers, {
      secrets: this.#secrets,
      now: this.#now(),
      toleranceSeconds: this.#toleranceSeconds,
    });
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
}

function positive(seconds: number): number {
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new TypeError('toleranceSeconds must be a positive number; freshness cannot be switched off.');
}
