import type { Delivery } from '../delivery.ts';
import type { OptionNames } from '../known-options.ts';

/**
 * A memory of handled deliveries. A delivery is claimed before its handler runs. The claim is confirmed when the
 * handler succeeds, and released when it fails, so that a failure is retried and a success is not repeated.
 *
 * A claim is prolonged while its handler runs. A claim that is neither confirmed nor released, because its process died,
 * expires. The delivery can then be claimed again, under another token: the first claim can no longer release the second
 * one.
 */
export interface DedupStore {
  /**
   * Claims a delivery.
   *
   * @param key the result of {@link dedupKey}
   */
  claim(key: string): Claim | Promise<Claim>;
  /**
   * Confirms that the handler succeeded, even after the claim expired. Has no effect while another claim holds the
   * delivery.
   */
  confirm(key: string, token: string): void | Promise<void>;
  /**
   * Releases a delivery whose handler failed. Has no effect when another claim holds the delivery or has confirmed it.
   */
  release(key: string, token: string): void | Promise<void>;
  /**
   * Prolongs a claim whose handler still runs: it lasts for `claimSeconds` from now. Has no effect when the claim was
   * confirmed or released, or when another claim holds the delivery.
   *
   * Called every third of the `claimSeconds` that `claim` returned. Default: no claim is prolonged, so a claim must last
   * longer than the slowest handler.
   *
   * @returns false when the claim no longer holds the delivery; the receiver then stops to prolong it
   */
  prolong?(key: string, token: string): boolean | Promise<boolean>;
}

/** A dedup store that prolongs claims. Each store of this package does. */
export type ProlongingDedupStore = DedupStore & Required<Pick<DedupStore, 'prolong'>>;

/** The result of a claim. */
export type Claim =
  /**
   * The handler may run. `token` identifies the claim when it is confirmed, prolonged or released. `claimSeconds` is the
   * length of the claim; without it, the claim is not prolonged.
   */
  | { readonly state: 'claimed'; readonly token: string; readonly claimSeconds?: number | undefined }
  /** A handler has already succeeded. */
  | { readonly state: 'handled' }
  /**
   * A handler is running, for another delivery of the same event. `secondsLeft` is the time after which its claim
   * expires unless it is prolonged; default 60. The sender gets it as `Retry-After`.
   */
  | { readonly state: 'in-flight'; readonly secondsLeft?: number | undefined };

/** The options of every dedup store. */
export interface DedupOptions {
  /**
   * The time for which a handled delivery is remembered, in seconds. Default 259 200 (3 days), longer than hosts retry.
   */
  readonly ttlSeconds?: number;
  /**
   * The time in seconds after which an open claim expires. The claim is prolonged while its handler runs, so this is the
   * longest time for which a delivery waits after its process died. Default 60.
   */
  readonly claimSeconds?: number;
  /**
   * The clock, in milliseconds. Default: the monotonic clock of the process in memory, `Date.now` in SQLite, and the
   * clock of the database in PostgreSQL, because the clocks of its processes may differ.
   */
  readonly now?: () => number;
}

/** The names of {@link DedupOptions}. */
export const DEDUP_OPTIONS: OptionNames<DedupOptions> = { ttlSeconds: true, claimSeconds: true, now: true };

/**
 * Returns the key of a delivery. Two deliveries of the same event to the same subscription have the same key.
 *
 * @example
 * import { dedupKey } from '@svc/webhook-verify/receive';
 * import { testDelivery } from '@svc/webhook-verify/testing';
 * import { Webhook } from '@svc/webhook-verify';
 *
 * const { body, headers } = testDelivery({ secret: 'a secret' });
 * console.log(dedupKey(new Webhook('a secret').verify(body, headers)));
 * @see Interface: Subscriber verification recipe, 6
 */
export function dedupKey(delivery: Delivery): string {
  return JSON.stringify([delivery.webhookId, delivery.runId, delivery.event.sequence]);
}

/** The options with their defaults, in milliseconds. */
export interface DedupTimes {
  readonly ttlMs: number;
  readonly claimMs: number;
}

/** Fills in the defaults of the options. @throws {TypeError} for a time that is no number, not positive, or longer than 1e9 seconds */
export function dedupTimes({ ttlSeconds = 259_200, claimSeconds = 60 }: DedupOptions): DedupTimes {
  for (const [name, value] of Object.entries({ ttlSeconds, claimSeconds })) {
    if (typeof value === 'number' && value > 0 && value <= LONGEST_SECONDS) continue;
    throw new TypeError(
      `${name}: must be a positive number of at most ${LONGEST_SECONDS}. Leave it out for the default.`,
    );
  }
  return { ttlMs: ttlSeconds * 1000, claimMs: claimSeconds * 1000 };
}

/** About 31 years: a sum of such a time and today is still a date. */
const LONGEST_SECONDS = 1e9;
