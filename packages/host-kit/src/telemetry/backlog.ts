import type { BatchObservableCallback } from '@opentelemetry/api';
import type { Clock } from '../clock.ts';
import type { Backlog } from '../webhooks/backlog-store.ts';
import { gaugeOf, METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/**
 * Shows the backlog whenever metrics are collected.
 *
 * @param read asked at each collection, and not without one
 * @returns what ends it
 */
export function backlogGauges({ meter }: Scope, clock: Clock, read: (now: number) => Promise<Backlog>): () => void {
  const due = gaugeOf(meter, METRICS.queueDue);
  const age = gaugeOf(meter, METRICS.queueAge);
  const observe: BatchObservableCallback = async (result) => {
    const now = clock.now();
    // A store that is away shows elsewhere; here there is nothing to show.
    const backlog = await read(now).catch(() => undefined);
    if (backlog === undefined) return;
    result.observe(due, backlog.due);
    result.observe(age, backlog.oldestDueAt === undefined ? 0 : Math.max(0, now - backlog.oldestDueAt) / 1000);
  };
  meter.addBatchObservableCallback(observe, [due, age]);
  return () => meter.removeBatchObservableCallback(observe, [due, age]);
}
