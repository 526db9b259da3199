import type { Phase } from '../health/check.ts';
import type { Places } from '../streams/places.ts';
import type { Upkeep } from '../upkeep.ts';
import { hostBacklog } from '../webhooks/backlog.ts';
import type { DeliveryRoom } from './delivery-room.ts';
import type { EngineRoom } from './engine-room.ts';
import type { Ground } from './ground.ts';
import { watchOthers } from './watch-others.ts';

/** From the start of a host to its stop. */
export interface Lifecycle {
  phase(): Phase;
  start(): Promise<void>;
  drain(): void;
  stop(graceMs?: number): Promise<void>;
}

export interface LifecycleParts {
  readonly deliveries: DeliveryRoom;
  readonly engineRoom: EngineRoom;
  readonly readers: Places;
  readonly upkeeps: readonly Upkeep[];
}

/** Starts what a host is made of, and ends it in the order in which nothing is lost. */
export function lifecycle(
  { store, clock, log, observe, audit }: Ground,
  { deliveries, engineRoom, readers, upkeeps }: LifecycleParts,
): Lifecycle {
  const { dispatcher, endpoints } = deliveries;
  const { executor } = engineRoom;
  let phase: Phase = 'made';
  let stopShowing = (): void => {};
  let stopWatching = (): void => {};

  return {
    phase: () => phase,
    async start() {
      phase = 'starting';
      stopShowing = observe.show({ backlog: (now) => hostBacklog(store, now), readers: readers.taken });
      audit?.recorder.start();
      if (store.shared === true) stopWatching = watchOthers({ clock, log, executor, dispatcher });
      dispatcher.start();
      for (const { start } of upkeeps) start();
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
      // At the same time, so that one grace serves both. What an execution appends now waits in the outbox.
      const upkeepsStop = upkeeps.map(({ stop }) => stop());
      await Promise.all([executor.stop(graceMs), dispatcher.stop(graceMs), readers.empty(graceMs), ...upkeepsStop]);
      await audit?.recorder.stop();
      deliveries.close();
      await store.close();
    },
  };
}

const DEFAULT_GRACE_MS = 10_000;
