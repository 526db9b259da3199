import type { HostPorts } from '../ports/host-ports.ts';

/** Makes a periodic task that deletes sessions a day after their expiry, 500 in a transaction. */
export function forgetSessions({
  store,
  clock,
}: Pick<HostPorts, 'store' | 'clock'>): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    for (let swept = SWEPT; swept === SWEPT && !signal.aborted; ) {
      swept = await store.portalSessions.sweep(clock.now() - KEPT_MS, SWEPT);
    }
  };
}

const SWEPT = 500;
const KEPT_MS = 86_400_000;
