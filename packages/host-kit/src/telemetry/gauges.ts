import type { BatchObservableCallback } from '@opentelemetry/api';
import type { Backlog } from '../ports/backlog.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { TriggerBacklog } from '../ports/triggers.ts';
import { gaugeOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** The sources of the gauges. They are read at each collection of metrics, and never without one. */
export interface GaugeSources {
  readonly backlog: (now: number) => Promise<Backlog>;
  /** Returns the messages of triggers that started no run; undefined when the host serves no triggers. */
  readonly triggers: (() => Promise<TriggerBacklog>) | undefined;
  /** Returns the number of open event streams and waiting polls. */
  readonly readers: () => number;
  /** Returns the length of the log of the store; undefined when the store has none. */
  readonly logBytes: (() => number) | undefined;
  /** Returns the age of the oldest snapshot of the database, in ms; undefined when the store has no snapshots. */
  readonly oldestSnapshotMs: (() => Promise<number>) | undefined;
}

/**
 * Observes the gauges.
 *
 * @returns a function that ends the observation
 */
export function gauges(
  { meter }: Scope,
  storeClock: StoreClock,
  { backlog, triggers, readers, logBytes, oldestSnapshotMs }: GaugeSources,
): () => void {
  const due = gaugeOf(meter, METRICS.queueDue);
  const age = gaugeOf(meter, METRICS.queueAge);
  const reading = gaugeOf(meter, METRICS.readers);
  const skew = gaugeOf(meter, METRICS.clockSkew);
  const log = gaugeOf(meter, METRICS.storeLog);
  const snapshot = gaugeOf(meter, METRICS.storeSnapshot);
  const messages = gaugeOf(meter, METRICS.triggersWaiting);
  const letters = gaugeOf(meter, METRICS.triggerLetters);
  const observe: BatchObservableCallback = async (result) => {
    result.observe(reading, readers());
    const aheadMs = storeClock.aheadMs();
    if (aheadMs !== undefined) result.observe(skew, aheadMs / 1000);
    if (logBytes !== undefined) result.observe(log, logBytes());
    const now = storeClock.now();
    // A store that fails appears in the health check. A gauge without a value is left out.
    const [waiting, snapshotMs, unstarted] = await Promise.all([
      backlog(now).catch(() => undefined),
      oldestSnapshotMs?.().catch(() => undefined),
      triggers?.().catch(() => undefined),
    ]);
    if (unstarted !== undefined) {
      result.observe(messages, unstarted.waiting);
      result.observe(letters, unstarted.deadLetters);
    }
    if (snapshotMs !== undefined) result.observe(snapshot, snapshotMs / 1000);
    if (waiting === undefined) return;
    result.observe(due, waiting.due);
    result.observe(age, waiting.oldestDueAt === undefined ? 0 : Math.max(0, now - waiting.oldestDueAt) / 1000);
  };
  const observed = [due, age, reading, skew, log, snapshot, messages, letters];
  meter.addBatchObservableCallback(observe, observed);
  return () => meter.removeBatchObservableCallback(observe, observed);
}
