import type { Store } from '../ports/store.ts';
import type { Subscription, SubscriptionState } from '../ports/subscriptions.ts';
import type { Transaction } from '../ports/transaction.ts';

/** Told of a change of a subscription's health, once it is durable. It must not throw. */
export type StateChanged = (before: SubscriptionState, after: SubscriptionState) => void;

/** Changes the health of a subscription, if it is still there. */
export type ChangeState = (
  webhookId: string,
  change: (subscription: Subscription) => SubscriptionState,
) => Promise<void>;

/** Runs a transaction that may change the health of subscriptions, and tells of each change after the commit. */
export async function changingState<T>(
  store: Pick<Store, 'transaction' | 'subscriptions'>,
  moved: StateChanged,
  work: (transaction: Transaction, changeHealth: ChangeState) => Promise<T>,
): Promise<T> {
  const { result, moves } = await store.transaction(async (transaction) => {
    const moves: { before: SubscriptionState; after: SubscriptionState }[] = [];
    const result = await work(transaction, (webhookId, change) => {
      const noting = (before: Subscription) => {
        const after = change(before);
        moves.push({ before, after });
        return after;
      };
      return store.subscriptions.updateState(webhookId, noting, transaction);
    });
    return { result, moves };
  });
  for (const { before, after } of moves) moved(before, after);
  return result;
}
