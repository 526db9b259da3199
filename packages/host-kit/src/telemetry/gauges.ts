import type { BatchObservableCallback } from '@opentelemetry/api';
import type { Backlog } from '../ports/backlog.ts';
import type { Clock } from '../ports/clock.ts';
import { gaugeOf, METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** The sources of the gauges. They are read at each collection of metrics, and never without one. */
export interface GaugeSources {
  readonly backlog: (now: number) => Promise<Backlog>;
  /** Returns the number of open event streams and waiting polls. */
  readonly readers: () => number;
}

/**
 * Observes the gauges.
 *
 * @returns a function that ends the observation
 */
export function gauges({ meter }: Scope, clock: Clock, { backlog, readers }: GaugeSources): () => void {
  const due = gaugeOf(meter, METRICS.queueDue);
  const age = gaugeOf(meter, METRICS.queueAge);
  const reading = gaugeOf(meter, METRICS.readers);
  const observe: BatchObservableCallback = async (result) => {
    result.observe(reading, readers());
    const now = clock.now();
    // A store that fails appears in the health check. A gauge without a value is left out.
    const waiting = await backlog(now).catch(() => undefined);
    if (waiting === undefined) return;
    result.observe(due, waiting.due);
    result.observe(age, waiting.oldestDueAt === undefined ? 0 : Math.max(0, now - waiting.oldestDueAt) / 1000);
  };
  const observed = [due, age, reading];
  meter.addBatchObservableCallback(observe, observed);
  return () => meter.removeBatchObservableCallback(observe, observed);
}
