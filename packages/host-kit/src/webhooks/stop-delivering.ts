import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { READING_GOOD_FOR_MS } from '../ports/subscriptions.ts';
import type { Dispatcher } from './dispatcher.ts';

export interface StopDeliveringOptions {
  readonly store: Pick<Store, 'shared'>;
  readonly clock: Clock;
  readonly dispatcher: Pick<Dispatcher, 'forget'>;
}

/**
 * Ends what is under way for subscriptions, after the commit that removed them: what began before it is not missed then. Once it resolves, no
 * attempt for them starts any more, at whatever host.
 */
export async function stopDelivering(
  { store, clock, dispatcher }: StopDeliveringOptions,
  webhookIds: readonly string[],
): Promise<void> {
  for (const webhookId of webhookIds) dispatcher.forget(webhookId);
  if (webhookIds.length > 0 && store.shared === true) await passed(clock, READING_GOOD_FOR_MS + MARGIN_MS);
}

/** What another host begins at the last moment is on its way by then. */
const MARGIN_MS = 250;

function passed(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.at(clock.now() + ms, resolve);
  });
}
