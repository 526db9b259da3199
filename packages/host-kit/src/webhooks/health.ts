import type { Store } from '../stores/store.ts';
import type { Transaction } from '../transaction.ts';
import type { Subscription, SubscriptionHealth } from './subscription.ts';

/** Told of a change of a subscription's health, once it is durable. It must not throw. */
export type HealthMoved = (before: SubscriptionHealth, after: SubscriptionHealth) => void;

/** Changes the health of a subscription, if it is still there. */
export type ChangeHealth = (
  webhookId: string,
  change: (subscription: Subscription) => SubscriptionHealth,
) => Promise<void>;

/** Runs a transaction that may change the health of subscriptions, and tells of each change after the commit. */
export async function changingHealth<T>(
  store: Pick<Store, 'transaction' | 'subscriptions'>,
  moved: HealthMoved,
  work: (transaction: Transaction, changeHealth: ChangeHealth) => Promise<T>,
): Promise<T> {
  const { result, moves } = await store.transaction(async (transaction) => {
    const moves: { before: SubscriptionHealth; after: SubscriptionHealth }[] = [];
    const result = await work(transaction, (webhookId, change) => {
      const noting = (before: Subscription) => {
        const after = change(before);
        moves.push({ before, after });
        return after;
      };
      return store.subscriptions.updateHealth(webhookId, noting, transaction);
    });
    return { result, moves };
  });
  for (const { before, after } of moves) moved(before, after);
  return result;
}
