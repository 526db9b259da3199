import type { Phase } from '../health/check.ts';
import type { PeriodicTask } from '../periodic-task.ts';
import type { LogRecord } from '../ports/log.ts';
import type { ReaderLimiter } from '../streams/reader-limits.ts';
import { hostBacklog } from '../webhooks/backlog.ts';
import type { DeliveryParts } from './delivery.ts';
import type { ExecutionParts } from './execution.ts';
import { requireKeys } from './require-keys.ts';
import type { Services } from './services.ts';
import type { StoreWatch } from './store-watch.ts';
import type { CallerWatch } from './watch-callers.ts';
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
  readonly storeWatch: StoreWatch;
  readonly callers: Pick<CallerWatch, 'end'>;
  /** Written to the log at the start. */
  readonly warnings: readonly LogRecord[];
}

/** Starts the parts of a host, and stops them in an order that loses no event. */
export function lifecycle(
  {
    store,
    clock,
    storeClock,
    log,
    observe,
    audit,
    runFetch,
    secrets,
    floodGuard,
    apiKeys,
    access,
    recordAudit,
    versionUses,
    triggers,
    mirror,
  }: Services,
  { deliveries, execution, readers, periodicTasks, storeWatch, callers, warnings }: LifecycleParts,
): Lifecycle {
  const { dispatcher, endpoints } = deliveries;
  const { executor, families } = execution;
  let phase: Phase = 'made';
  let stopShowing = (): void => {};
  let stopWatching = (): void => {};

  return {
    phase: () => phase,
    async start() {
      phase = 'starting';
      try {
        await begin();
      } catch (error) {
        // The stop has closed the store below the start.
        if (!isStopped()) throw error;
      }
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
      await Promise.all([
        executor.stop(graceMs),
        families.stop(),
        dispatcher.stop(graceMs),
        readers.empty(graceMs),
        ...tasksStop,
      ]);
      callers.end();
      await mirror?.reads.end();
      await versionUses.end();
      await apiKeys?.end();
      await access?.end();
      await audit?.recorder.stop();
      deliveries.close();
      runFetch.close();
      storeWatch.end();
      await store.close();
      floodGuard.end();
    },
  };

  function isStopped(): boolean {
    return phase === 'stopped';
  }

  /** Begins nothing more when the host is stopped meanwhile: it would work on a closed store without end. */
  async function begin(): Promise<void> {
    await storeWatch.begin();
    if (isStopped()) return;
    await requireKeys({ store, secrets, log });
    if (isStopped()) return;
    // Before any other work: nothing is added to an audit log that was cut.
    await audit?.recorder.start();
    apiKeys?.whenChanged((keyId) => readers.judge(keyId));
    await apiKeys?.begin({ store, clock, storeClock, log, recordAudit });
    access?.whenChanged((tenant) => readers.judgeTenant(tenant));
    await access?.begin({ store, clock, log, recordAudit });
    // A store that does not answer now is asked again by the dispatcher.
    await storeClock.read().catch(() => {});
    if (isStopped()) return;
    for (const warning of warnings) log(warning);
    reportUnmatchedApi(observe, log);
    stopShowing = observe.show({
      backlog: (now) => hostBacklog({ store, dispatcher }, now),
      triggers: triggers && (() => store.triggers.backlog(MOST_COUNTED)),
      readers: readers.taken,
      logBytes: store.files?.logBytes,
      oldestSnapshotMs: store.oldestSnapshotMs,
    });
    if (store.shared === true) stopWatching = watchOthers({ clock, log, executor, dispatcher });
    dispatcher.start();
    for (const { start } of periodicTasks) start();
    await executor.resume();
    if (phase === 'starting') phase = 'running';
  }
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
const MOST_COUNTED = 10_000;
