import type { Store } from '../ports/store.ts';
import type { Subscription, SubscriptionState } from '../ports/subscriptions.ts';
import type { Transaction } from '../ports/transaction.ts';

/** Called with a change of a subscription's state, once it is durable. It must not throw. */
export type StateChanged = (before: SubscriptionState, after: SubscriptionState) => void;

/** Computes the next state of a subscription from the stored one. A store may call it more than once. */
export type NextState = (subscription: Subscription) => SubscriptionState;

/** One change of a subscription's state. */
export interface StateChange {
  readonly before: Subscription;
  readonly after: SubscriptionState;
}

/** Changes the state of a subscription; does nothing when the subscription is gone. */
export type ChangeState = (webhookId: string, nextState: NextState) => Promise<void>;

/** Runs a transaction that may change the state of subscriptions, and reports each change after the commit. */
export async function changingState<T>(
  store: Pick<Store, 'transaction' | 'subscriptions'>,
  stateChanged: StateChanged,
  work: (transaction: Transaction, changeState: ChangeState) => Promise<T>,
): Promise<T> {
  const { result, changes } = await store.transaction(async (transaction) => {
    // Made anew for each try: a store may repeat its transaction.
    const changes: StateChange[] = [];
    const result = await work(transaction, (webhookId, nextState) =>
      store.subscriptions.updateState(webhookId, collectChange(nextState, changes), transaction),
    );
    return { result, changes };
  });
  for (const { before, after } of changes) stateChanged(before, after);
  return result;
}

/** Returns a `NextState` that also adds the change to `changes`. */
export function collectChange(nextState: NextState, changes: StateChange[]): NextState {
  return (before) => {
    const after = nextState(before);
    changes.push({ before, after });
    return after;
  };
}
