import type { Store } from '../ports/store.ts';
import type { Transaction } from '../ports/transaction.ts';
import { histogramOf, METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Wraps a store so that its transactions are timed. */
export function timedStore(store: Store, { meter }: Scope): Store {
  const duration = histogramOf(meter, METRICS.transactionDuration);
  const {
    shared,
    runs,
    events,
    interrupts,
    artifacts,
    subscriptions,
    deliveries,
    backlog,
    attempts,
    audit,
    byok,
    idempotency,
    workspace,
    webhookJobs,
  } = store;

  return {
    ...(shared !== undefined && { shared }),
    runs,
    events,
    interrupts,
    artifacts,
    subscriptions,
    deliveries,
    backlog,
    attempts,
    audit,
    byok,
    idempotency,
    workspace,
    webhookJobs,
    close: () => store.close(),
    async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
      const began = performance.now();
      let outcome = 'rolled-back';
      try {
        const result = await store.transaction(work);
        outcome = 'committed';
        return result;
      } finally {
        duration.record((performance.now() - began) / 1000, { 'svc.store.outcome': outcome });
      }
    },
  };
}
