import type { TransportVerdict } from '../ports/transport.ts';

/**
 * The lane of a subscription. `slow`: its last attempt timed out. A slow subscription has one attempt at a time, and all
 * slow subscriptions together have half of the places.
 */
export type Lane = 'regular' | 'slow';

/** Called when a subscription changes its lane. It must not throw. */
export type LaneChanged = (from: Lane, to: Lane) => void;

/**
 * The lanes of the subscriptions. They are in memory alone: each host finds out which receivers hang, and a restart
 * forgets it.
 */
export class Lanes {
  readonly #changed: LaneChanged;
  /** Slow subscriptions, the one that timed out longest ago first. */
  readonly #slow = new Set<string>();

  constructor(changed: LaneChanged = () => {}) {
    this.#changed = changed;
  }

  of(webhookId: string): Lane {
    return this.#slow.has(webhookId) ? 'slow' : 'regular';
  }

  /** Notes the verdict of an attempt. Undefined: nothing was sent. */
  ended(webhookId: string, verdict: TransportVerdict | undefined): void {
    if (verdict === undefined) return;
    if (verdict.kind !== 'failed' || verdict.reason !== 'timeout') {
      this.forget(webhookId);
      return;
    }
    if (!this.#slow.delete(webhookId)) this.#changed('regular', 'slow');
    this.#slow.add(webhookId);
    const [oldest] = this.#slow;
    if (this.#slow.size > MOST_SLOW && oldest !== undefined) this.forget(oldest);
  }

  /** Puts a subscription into the regular lane. */
  forget(webhookId: string): void {
    if (this.#slow.delete(webhookId)) this.#changed('slow', 'regular');
  }
}

/** Bounds the memory. A slow subscription that is forgotten times out once more, with all of its attempts. */
const MOST_SLOW = 10_000;
