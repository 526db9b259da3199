import type { Chance } from '@svc/tools/chance';
import type { Store } from '../../src/ports/store.ts';
import type { Transaction } from '../../src/ports/transaction.ts';

/** A store as one host sees it: it fails now and then, and stops to answer when the host dies. Its contents stay. */
export interface FaultyStore {
  readonly store: Store;
  /** From now on no call is ever answered. */
  cut(): void;
}

/** @param faults the rate of failures, and the wait before and after each call, during which the world goes on */
export function faultyStore(
  inner: Store,
  chance: Chance,
  faults: { readonly rate: () => number; readonly wait: () => Promise<void> },
): FaultyStore {
  let alive = true;

  /** Fails before the work, or after it, when only the answer is lost. */
  async function asked<T>(work: () => Promise<T>): Promise<T> {
    await faults.wait();
    if (!alive) return never();
    if (chance.happens(faults.rate())) throw new Error('simulated: the store is away');
    const result = await work();
    await faults.wait();
    if (!alive) return never();
    if (chance.happens(faults.rate())) throw new Error('simulated: the answer of the store is lost');
    return result;
  }

  /** Undoes the work once, as if other transactions had forced that, and does it again. */
  async function triedAgain<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const undone = new Error('simulated: undone because of others');
    const first = inner.transaction(async (transaction) => {
      await work(transaction);
      throw undone;
    });
    await first.catch((error: unknown) => {
      if (error !== undone) throw error;
    });
    return inner.transaction(work);
  }

  const { time } = inner;
  const store: Store = {
    ...inner,
    ...(time !== undefined && { time: () => asked(time) }),
    transaction: (work) => asked(() => (chance.happens(faults.rate()) ? triedAgain(work) : inner.transaction(work))),
    subscriptions: { ...inner.subscriptions, read: (webhookId) => asked(() => inner.subscriptions.read(webhookId)) },
    deliveries: {
      ...inner.deliveries,
      claim: (request) => asked(() => inner.deliveries.claim(request)),
      release: (claims, now) => asked(() => inner.deliveries.release(claims, now)),
      nextDueAfter: (now) => asked(() => inner.deliveries.nextDueAfter(now)),
      limitWaits: (limits) => asked(() => inner.deliveries.limitWaits(limits)),
      sweep: (now, limit) => asked(() => inner.deliveries.sweep(now, limit)),
    },
  };
  return {
    store,
    cut() {
      alive = false;
    },
  };
}

function never<T>(): Promise<T> {
  return new Promise(() => {});
}
