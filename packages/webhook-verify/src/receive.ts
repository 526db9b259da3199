import { type DedupStore, dedupKey } from './dedup/dedup.ts';
import type { Delivery } from './delivery.ts';
import type { WebhookVerificationError } from './errors.ts';
import type { HeaderSource } from './headers.ts';
import { Webhook, type WebhookOptions } from './webhook.ts';

export interface ReceiveOptions extends WebhookOptions {
  /** The subscription's secret; several while a rotation overlaps. */
  readonly secret: string | readonly string[];
  /** Does the work. The sender gets its 200 once this has resolved; a rejection makes it try again. */
  readonly onDelivery: (delivery: Delivery) => void | Promise<void>;
  /** Where handled deliveries are remembered. Without one, a repeated delivery runs the handler again. */
  readonly dedup?: DedupStore;
  /** Told why a delivery was not accepted. The sender is told nothing but the status. */
  readonly onRejected?: (error: WebhookVerificationError) => void;
  /** Told what the handler or the dedup store threw. */
  readonly onFailed?: (error: unknown, delivery: Delivery) => void;
}

/** What to answer. The body is empty: a sender acts on the status alone. */
export type ReceiveStatus = 200 | 400 | 401 | 409 | 500;

export type Receive = (body: Uint8Array | string, headers: HeaderSource) => Promise<ReceiveStatus>;

/**
 * The receiver without a framework: verify, deduplicate, handle, and say what to answer.
 *
 * | delivery | status |
 * |---|---|
 * | handled now or before | 200 |
 * | not authentic or fresh | 401, or 400 when it is malformed |
 * | the same event is being handled | 409, so that the sender tries again |
 * | the handler failed | 500, so that the sender tries again |
 */
export function receive(options: ReceiveOptions): Receive {
  const webhook = new Webhook(options.secret, options);

  return async (body, headers) => {
    const verification = webhook.safeVerify(body, headers);
    if (!verification.ok) {
      options.onRejected?.(verification.error);
      return verification.error.status;
    }
    return handle(verification.delivery);
  };

  async function handle(delivery: Delivery): Promise<ReceiveStatus> {
    const key = dedupKey(delivery);
    try {
      const claim = (await options.dedup?.claim(key)) ?? 'claimed';
      if (claim === 'handled') return 200;
      if (claim === 'in-flight') return 409;
      try {
        await options.onDelivery(delivery);
      } catch (error) {
        await options.dedup?.release(key);
        throw error;
      }
      await options.dedup?.confirm(key);
      return 200;
    } catch (error) {
      options.onFailed?.(error, delivery);
      return 500;
    }
  }
}
