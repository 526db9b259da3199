import type { BatchObservableCallback } from '@opentelemetry/api';
import type { Backlog } from '../ports/backlog.ts';
import type { Clock } from '../ports/clock.ts';
import { gaugeOf, METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** What is looked at whenever metrics are collected, and not without a collection. */
export interface Shown {
  readonly backlog: (now: number) => Promise<Backlog>;
  /** How many streams of events and waiting polls there are. */
  readonly readers: () => number;
}

/** @returns what ends it */
export function gauges({ meter }: Scope, clock: Clock, { backlog, readers }: Shown): () => void {
  const due = gaugeOf(meter, METRICS.queueDue);
  const age = gaugeOf(meter, METRICS.queueAge);
  const reading = gaugeOf(meter, METRICS.readers);
  const observe: BatchObservableCallback = async (result) => {
    result.observe(reading, readers());
    const now = clock.now();
    // A store that is away shows elsewhere; here there is nothing to show.
    const waiting = await backlog(now).catch(() => undefined);
    if (waiting === undefined) return;
    result.observe(due, waiting.due);
    result.observe(age, waiting.oldestDueAt === undefined ? 0 : Math.max(0, now - waiting.oldestDueAt) / 1000);
  };
  const shown = [due, age, reading];
  meter.addBatchObservableCallback(observe, shown);
  return () => meter.removeBatchObservableCallback(observe, shown);
}
