import type { Delivery } from '../delivery.ts';

/**
 * Remembers which deliveries were handled. A delivery is claimed before its handler runs, then confirmed when the handler
 * succeeded or released when it failed, so that a failure is retried and a success is never repeated.
 */
export interface DedupStore {
  /** `claimed`: the handler may run. `in-flight`: another delivery of the same event is being handled. */
  claim(key: string): ClaimResult | Promise<ClaimResult>;
  confirm(key: string): void | Promise<void>;
  release(key: string): void | Promise<void>;
}

export type ClaimResult = 'claimed' | 'handled' | 'in-flight';

/** @see Interface: Subscriber verification recipe, 6 */
export function dedupKey(delivery: Delivery): string {
  return JSON.stringify([delivery.webhookId, delivery.runId, delivery.event.sequence]);
}
