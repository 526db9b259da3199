import type { RawBody } from './body.ts';
import { type Delivery, parseDelivery } from './delivery.ts';
import { WebhookVerificationError } from './errors.ts';
import type { HeaderSource } from './headers.ts';
import type { Hmac } from './hmac/hmac.ts';
import { type OptionNames, requireKnown } from './known-options.ts';
import { lazyDelivery } from './lazy-delivery.ts';
import { prepareSecret, secretList } from './secret.ts';
import { checkedTolerance } from './timestamp.ts';
import { type VerifyRules, verifySignature } from './verify.ts';

/** The options of {@link Webhook}. */
export interface WebhookOptions {
  /**
   * The largest difference between the time of signing and now, in seconds, in either direction, inclusive. Default
   * 300.
   */
  readonly toleranceSeconds?: number;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /**
   * The id of the subscription, as the registration returned it. Default: any id is accepted. The signature does not
   * cover the header of the id: without this option, an attacker who captures a delivery can send it again under other
   * ids while it is fresh, and each id passes deduplication once.
   */
  readonly webhookId?: string | undefined;
}

/** The names of {@link WebhookOptions}. */
const WEBHOOK_OPTIONS: OptionNames<WebhookOptions> = { toleranceSeconds: true, now: true, webhookId: true };

/** The options of one call of `verify`. */
export interface VerifyOptions {
  /**
   * When the body is parsed: `eager` during the verification, `lazy` at the first access to `event`, `eventType`, `runId`
   * or `workspaceId`. A lazy delivery is for receivers that mostly forward or store the bytes: the verification costs
   * its signature alone. The bytes must not change until the body is parsed. Default `eager`.
   */
  readonly payload?: 'eager' | 'lazy';
}

const VERIFY_OPTIONS: OptionNames<VerifyOptions> = { payload: true };

function isLazy(options: VerifyOptions): boolean {
  requireKnown('verify', options, VERIFY_OPTIONS);
  return options.payload === 'lazy';
}

/** The result of `safeVerify`. */
export type Verification =
  /** The delivery is authentic, fresh and well-formed. */
  | { readonly ok: true; readonly delivery: Delivery }
  /** The delivery was rejected. */
  | { readonly ok: false; readonly error: WebhookVerificationError };

/** Bytes that are authentic and fresh. Their content is not parsed yet. */
export interface SignedDelivery {
  /** The id of the subscription, from the header. The signature does not cover it. */
  readonly webhookId: string;
  /** The time of signing in Unix seconds. */
  readonly timestamp: number;
  /** Parses the body. @throws {WebhookVerificationError} `malformed_body`, `event_type_mismatch` */
  read(): Delivery;
}

/**
 * Verifies the deliveries of one subscription.
 *
 * @example
 * import { Webhook } from '@svc/webhook-verify';
 *
 * export async function POST(request: Request): Promise<Response> {
 *   const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '');
 *   const verification = webhook.safeVerify(await request.arrayBuffer(), request.headers);
 *   if (!verification.ok) return new Response(null, { status: verification.error.status });
 *   console.log(verification.delivery.eventType);
 *   return new Response();
 * }
 * @see Interface: Subscriber verification recipe
 */
export class Webhook {
  readonly #secrets: readonly Hmac[];
  readonly #toleranceSeconds: number;
  readonly #now: () => number;
  readonly #webhookId: string | undefined;

  /**
   * @param secret the secret of the subscription, as the registration returned it; several while a rotation overlaps
   * @throws {TypeError} when a secret is invalid, the list is empty, the tolerance is not a positive number, or an
   * option is unknown
   */
  constructor(secret: string | readonly string[], options: WebhookOptions = {}) {
    requireKnown('Webhook', options, WEBHOOK_OPTIONS);
    this.#secrets = secretList(secret).map(prepareSecret);
    this.#toleranceSeconds = checkedTolerance(options.toleranceSeconds);
    this.#now = options.now ?? Date.now;
    this.#webhookId = options.webhookId;
  }

  /**
   * Verifies a delivery.
   *
   * With `payload: 'lazy'`, the body is parsed at the first access to a field that comes from it. Such an access throws
   * `malformed_body` or `event_type_mismatch` when the sender signed a body that is no delivery.
   *
   * @param body the bytes or text as received; a parsed object is a TypeError
   * @throws {WebhookVerificationError} when the delivery is not authentic and fresh, or, unless it is lazy, not
   * well-formed
   * @throws {TypeError} when an option is unknown
   */
  verify(body: RawBody, headers: HeaderSource, options: VerifyOptions = {}): Delivery {
    const read = isLazy(options) ? lazyDelivery : parseDelivery;
    const signed = verifySignature(body, headers, this.#rules());
    return read(signed.body, signed.headers, signed.timestamp);
  }

  /**
   * Does the same as `verify`, but returns a rejection as a value.
   *
   * @throws {TypeError} when the body is a parsed object, which is a mistake in the program
   */
  safeVerify(body: RawBody, headers: HeaderSource): Verification {
    try {
      return { ok: true, delivery: this.verify(body, headers) };
    } catch (error) {
      if (WebhookVerificationError.is(error)) return { ok: false, error };
      throw error;
    }
  }

  /**
   * Does the same as `verify`, without parsing the body: for receivers that only forward authentic bytes, such as the
   * entry to a queue.
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
