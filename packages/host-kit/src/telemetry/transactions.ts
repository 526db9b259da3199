import type { Store } from '../ports/store.ts';
import type { Transaction } from '../ports/transaction.ts';
import { histogramOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Wraps a store so that its transactions are timed. */
export function timedStore(store: Store, { meter }: Scope): Store {
  const duration = histogramOf(meter, METRICS.transactionDuration);
  const {
    shared,
    time,
    oldestSnapshotMs,
    runs,
    events,
    interrupts,
    annotations,
    artifacts,
    effects,
    subscriptions,
    deliveries,
    backlog,
    attempts,
    deliverySeries,
    capturedAnswers,
    audit,
    byok,
    openedSecrets,
    apiKeys,
    access,
    idempotency,
    sealingKeys,
    workspace,
    webhookJobs,
    triggers,
    versionUses,
    portalSessions,
  } = store;

  return {
    ...(shared !== undefined && { shared }),
    ...(time !== undefined && { time }),
    ...(oldestSnapshotMs !== undefined && { oldestSnapshotMs }),
    ...(store.files !== undefined && { files: store.files }),
    probe: () => store.probe(),
    isUnavailable: (error) => store.isUnavailable?.(error) ?? false,
    runs,
    events,
    interrupts,
    annotations,
    artifacts,
    effects,
    subscriptions,
    deliveries,
    backlog,
    attempts,
    deliverySeries,
    capturedAnswers,
    audit,
    byok,
    openedSecrets,
    apiKeys,
    access,
    idempotency,
    sealingKeys,
    workspace,
    webhookJobs,
    triggers,
    versionUses,
    portalSessions,
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
