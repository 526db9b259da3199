import type { Phase } from '../health/check.ts';
import type { PeriodicTask } from '../periodic-task.ts';
import type { ReaderLimiter } from '../streams/reader-limits.ts';
import { hostBacklog } from '../webhooks/backlog.ts';
import type { DeliveryParts } from './delivery.ts';
import type { ExecutionParts } from './execution.ts';
import type { Services } from './services.ts';
import { watchOthers } from './watch-others.ts';

/** The start, the drain and the stop of a host. */
export interface Lifecycle {
  phase(): Phase;
  start(): Promise<void>;
  drain(): void;
  stop(graceMs?: number): Promise<void>;
}

export interface LifecycleParts {
  readonly deliveries: DeliveryParts;
  readonly execution: ExecutionParts;
  readonly readers: ReaderLimiter;
  readonly periodicTasks: readonly PeriodicTask[];
}

/** Starts the parts of a host, and stops them in an order that loses no event. */
export function lifecycle(
  { store, clock, log, observe, audit, runFetch }: Services,
  { deliveries, execution, readers, periodicTasks }: LifecycleParts,
): Lifecycle {
  const { dispatcher, endpoints } = deliveries;
  const { executor } = execution;
  let phase: Phase = 'made';
  let stopShowing = (): void => {};
  let stopWatching = (): void => {};

  return {
    phase: () => phase,
    async start() {
      phase = 'starting';
      reportUnmatchedApi(observe, log);
      stopShowing = observe.show({ backlog: (now) => hostBacklog(store, now), readers: readers.taken });
      audit?.recorder.start();
      if (store.shared === true) stopWatching = watchOthers({ clock, log, executor, dispatcher });
      dispatcher.start();
      for (const { start } of periodicTasks) start();
      await executor.resume();
      if (phase === 'starting') phase = 'running';
    },
    drain() {
      if (phase !== 'stopped') phase = 'draining';
    },
    async stop(graceMs = DEFAULT_GRACE_MS) {
      phase = 'stopped';
      stopShowing();
      stopWatching();
      readers.close();
      endpoints.stop();
      // All at once, so that they share one grace period. Deliveries of events that are appended now wait in the
      // outbox.
      const tasksStop = periodicTasks.map(({ stop }) => stop());
      await Promise.all([executor.stop(graceMs), dispatcher.stop(graceMs), readers.empty(graceMs), ...tasksStop]);
      await audit?.recorder.stop();
      deliveries.close();
      runFetch.close();
      await store.close();
    },
  };
}

function reportUnmatchedApi({ unmatchedApi }: Services['observe'], log: Services['log']): void {
  const found = unmatchedApi();
  if (found === undefined) return;
  const message =
    'The OpenTelemetry SDK of this process uses another copy of @opentelemetry/api, so nothing of this host is ' +
    'exported. Install one version of it: `npm ls @opentelemetry/api` shows the copies.';
  log({ level: 'warn', event: 'telemetry.unmatched-api', found, message });
}

const DEFAULT_GRACE_MS = 10_000;
