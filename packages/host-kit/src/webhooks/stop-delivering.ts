import { type Clock, sleep } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { READING_GOOD_FOR_MS } from '../ports/subscriptions.ts';
import type { Dispatcher } from './dispatcher.ts';

export interface StopDeliveringOptions {
  readonly store: Pick<Store, 'shared'>;
  readonly clock: Clock;
  readonly dispatcher: Pick<Dispatcher, 'forget'>;
}

/**
 * Ends the deliveries of removed subscriptions. Call it after the commit that removed them: it aborts attempts under
 * way, and one that began just before the commit must be among them. Once it resolves, no host begins an attempt for
 * them.
 */
export async function stopDelivering(
  { store, clock, dispatcher }: StopDeliveringOptions,
  webhookIds: readonly string[],
): Promise<void> {
  for (const webhookId of webhookIds) dispatcher.forget(webhookId);
  if (webhookIds.length > 0 && store.shared === true) await sleep(clock, READING_GOOD_FOR_MS + MARGIN_MS);
}

/** The time for another host's request to leave when its attempt began at the last moment. */
const MARGIN_MS = 250;
