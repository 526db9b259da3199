import { groupCommit } from '../group-commit.ts';
import type { AttemptRecord } from '../ports/attempts.ts';
import type { CapturedAnswer } from '../ports/captured-answers.ts';
import type { ClaimedDelivery, Settlement } from '../ports/deliveries.ts';
import type { Store } from '../ports/store.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { Announce, Announcement } from './announce.ts';
import { announcementsOf } from './announcements.ts';
import { type CountedEnd, deliveryMinutes } from './delivery-minutes.ts';
import { collectChange, type NextState, type StateChange, type StateChanged } from './subscription-state.ts';

/** The end of one claimed delivery, and everything that is written with it. */
export interface EndedDelivery {
  readonly delivery: ClaimedDelivery;
  /** Undefined for best effort after its attempt: the delivery left the queue before it. */
  readonly settlement: Settlement | undefined;
  /** The entry of the attempt log. Undefined before an attempt. */
  readonly attempt: AttemptRecord | undefined;
  /** The answer of a failing receiver. Undefined: there is none, or none is captured. */
  readonly answer?: CapturedAnswer | undefined;
  /** Computes the subscription's next state from the stored one. Undefined when the state stays. */
  readonly nextState: NextState | undefined;
  /** A request was sent. The entry and the state are then written even if the claim was lost meanwhile. */
  readonly isSent: boolean;
}

/**
 * Writes the end of a delivery in one transaction, which it shares with deliveries that end at about the same time.
 *
 * @returns whether this host still held the claim
 */
export type Settle = (ended: EndedDelivery) => Promise<boolean>;

export interface SettleOptions {
  readonly store: Pick<
    Store,
    'transaction' | 'deliveries' | 'attempts' | 'deliverySeries' | 'capturedAnswers' | 'subscriptions'
  >;
  /** Called with each change of a subscription's state, once it is durable. */
  readonly stateChanged: StateChanged;
  readonly announce: Announce;
}

export function settling({ store, stateChanged, announce }: SettleOptions): Settle {
  const settle = groupCommit<EndedDelivery, Settled>({
    transaction: store.transaction,
    work: settleAll,
    keyOf: ({ delivery }) => delivery.deliveryId,
  });

  return async (ended) => {
    const { claimHeld, changes } = await settle(ended);
    for (const { before, after } of changes) stateChanged(before, after);
    return claimHeld;
  };

  async function settleAll(all: readonly EndedDelivery[], transaction: Transaction) {
    const ends = all.flatMap(({ delivery, settlement }) => (settlement ? [{ claim: delivery, settlement }] : []));
    const held = ends.length === 0 ? [] : [...(await store.deliveries.settle(ends, transaction))];
    const settled = all.map((ended) => ({
      ended,
      claimHeld: ended.settlement === undefined || held.shift() === true,
      changes: [] as StateChange[],
    }));
    const written = settled.filter((each) => each.claimHeld || each.ended.isSent);
    const attempts = written.flatMap(({ ended: { attempt } }) => attempt ?? []);
    if (attempts.length > 0) {
      await store.attempts.record(attempts, transaction);
      await store.deliverySeries.add(deliveryMinutes(written.flatMap(countedEnd)), transaction);
    }
    const answers = written.flatMap(({ ended: { answer } }) => answer ?? []);
    if (answers.length > 0) await store.capturedAnswers.add(answers, transaction);
    const announcements: Announcement[] = [];
    // In one order everywhere: two transactions that change the same subscriptions would otherwise deadlock.
    const changing = written.filter(({ ended }) => ended.nextState !== undefined);
    for (const { ended, changes } of changing.toSorted(bySubscription)) {
      const { delivery, nextState } = ended;
      if (nextState === undefined) continue;
      await store.subscriptions.updateState(delivery.webhookId, collectChange(nextState, changes), transaction);
      const [last] = changes.slice(-1);
      if (last !== undefined) announcements.push(...announcementsOf(last, ended.attempt));
    }
    await announce(announcements, transaction);
    return settled.map((value) => ({ status: 'fulfilled', value }) as const);
  }
}

interface Settled {
  readonly claimHeld: boolean;
  readonly changes: readonly StateChange[];
}

/** A claim that was lost is settled by its new holder, so only the attempt counts. */
function countedEnd({
  ended: { attempt, settlement },
  claimHeld,
}: {
  readonly ended: EndedDelivery;
  readonly claimHeld: boolean;
}): readonly CountedEnd[] {
  return attempt === undefined ? [] : [{ attempt, settlement: claimHeld ? settlement : undefined }];
}

/** The sort is stable, so the changes of one subscription keep their order. */
function bySubscription(a: { readonly ended: EndedDelivery }, b: { readonly ended: EndedDelivery }): number {
  const [first, second] = [a.ended.delivery.webhookId, b.ended.delivery.webhookId];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
