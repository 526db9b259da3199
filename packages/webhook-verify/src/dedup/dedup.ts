import type { Delivery } from '../delivery.ts';

/**
 * Remembers which deliveries were handled. A delivery is claimed before its handler runs, then confirmed when the handler
 * succeeded or released when it failed, so that a failure is retried and a success is not repeated.
 *
 * A claim that is neither confirmed nor released, because its process died, ends by itself after a while; the delivery can then be
 * claimed again. Its token keeps the two claims apart: the first one can no longer release what the second one holds.
 */
export interface DedupStore {
  claim(key: string): Claim | Promise<Claim>;
  /** The handler succeeded, be it late. Without effect while another claim holds the delivery. */
  confirm(key: string, token: string): void | Promise<void>;
  /** The handler failed. Without effect on what another claim holds or has confirmed. */
  release(key: string, token: string): void | Promise<void>;
}

export type Claim =
  /** The handler may run. */
  | { readonly state: 'claimed'; readonly token: string }
  /** It ran before, and succeeded. */
  | { readonly state: 'handled' }
  /** It is running, for another delivery of the same event. */
  | { readonly state: 'in-flight' };

export interface DedupOptions {
  /** How long a handled delivery is remembered. Default 3 days, longer than hosts retry. */
  readonly ttlSeconds?: number;
  /** How long a claim lasts that is neither confirmed nor released: longer than the slowest handler. Default 300. */
  readonly claimSeconds?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** What makes two deliveries the same event for the same subscription. @see Interface: Subscriber verification recipe, 6 */
export function dedupKey(delivery: Delivery): string {
  return JSON.stringify([delivery.webhookId, delivery.runId, delivery.event.sequence]);
}

/** The options with their defaults, in milliseconds. */
export interface DedupTimes {
  readonly ttlMs: number;
  readonly claimMs: number;
  readonly now: () => number;
}

/** @throws {TypeError} for a time that is not positive */
export function dedupTimes({ ttlSeconds = 259_200, claimSeconds = 300, now = Date.now }: DedupOptions): DedupTimes {
  for (const [name, value] of Object.entries({ ttlSeconds, claimSeconds })) {
    if (!(value > 0)) throw new TypeError(`${name}: must be a positive number. Leave it out for the default.`);
  }
  return { ttlMs: ttlSeconds * 1000, claimMs: claimSeconds * 1000, now };
}
