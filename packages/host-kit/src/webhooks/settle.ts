import { groupCommit } from '../group-commit.ts';
import type { AttemptRecord } from '../ports/attempts.ts';
import type { ClaimedDelivery, Settlement } from '../ports/deliveries.ts';
import type { Store } from '../ports/store.ts';
import type { Subscription, SubscriptionState } from '../ports/subscriptions.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { StateChanged } from './subscription-state.ts';

/** What a claimed delivery came to. */
export interface Ended {
  readonly delivery: ClaimedDelivery;
  /** Undefined: of best effort, which has left the queue before its attempt. */
  readonly settlement: Settlement | undefined;
  /** Undefined: there was none yet. */
  readonly attempt: AttemptRecord | undefined;
  /** What it means for the subscription; undefined: nothing. */
  readonly health: ((subscription: Subscription) => SubscriptionState) | undefined;
  /** Something was sent: the attempt and what it means are written even if the claim was lost meanwhile. */
  readonly isSent: boolean;
}

/**
 * Writes what a delivery came to, with all that follows from it, in one transaction, which it shares with others that end at about the same time.
 *
 * @returns whether the claim still stood
 */
export type Settle = (ended: Ended) => Promise<boolean>;

/** @param moved told of each change of a subscription's health, once it is durable */
export function settling(
  store: Pick<Store, 'transaction' | 'deliveries' | 'attempts' | 'subscriptions'>,
  moved: StateChanged,
): Settle {
  const settle = groupCommit<Ended, Settled>({
    transaction: store.transaction,
    work: settleAll,
    keyOf: ({ delivery }) => delivery.deliveryId,
  });

  return async (ended) => {
    const { stood, moves } = await settle(ended);
    for (const { before, after } of moves) moved(before, after);
    return stood;
  };

  async function settleAll(all: readonly Ended[], transaction: Transaction) {
    const ends = all.flatMap(({ delivery, settlement }) => (settlement ? [{ claim: delivery, settlement }] : []));
    const stood = ends.length === 0 ? [] : [...(await store.deliveries.settle(ends, transaction))];
    const settled = all.map((ended) => ({
      ended,
      stood: ended.settlement === undefined || stood.shift() === true,
      moves: [] as Move[],
    }));
    const written = settled.filter((each) => each.stood || each.ended.isSent);
    const attempts = written.flatMap(({ ended: { attempt } }) => attempt ?? []);
    if (attempts.length > 0) await store.attempts.record(attempts, transaction);
    // In one order, so that two who change several do not wait for each other.
    for (const { ended, moves } of written.toSorted(bySubscription)) {
      const { delivery, health } = ended;
      if (health !== undefined)
        await store.subscriptions.updateState(delivery.webhookId, noting(health, moves), transaction);
    }
    return settled.map((value) => ({ status: 'fulfilled', value }) as const);
  }
}

interface Settled {
  readonly stood: boolean;
  readonly moves: readonly Move[];
}

interface Move {
  readonly before: SubscriptionState;
  readonly after: SubscriptionState;
}

function noting(health: NonNullable<Ended['health']>, moves: Move[]): NonNullable<Ended['health']> {
  return (before) => {
    const after = health(before);
    moves.push({ before, after });
    return after;
  };
}

/** The sort is stable, so the changes of one subscription keep their order. */
function bySubscription(a: { readonly ended: Ended }, b: { readonly ended: Ended }): number {
  const [first, second] = [a.ended.delivery.webhookId, b.ended.delivery.webhookId];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
