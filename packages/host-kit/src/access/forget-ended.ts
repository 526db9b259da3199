import type { HostPorts } from '../ports/host-ports.ts';

/** Deletes withdrawals of credentials that have expired. One round of a periodic task. */
export function forgetEnded({
  store,
  clock,
}: Pick<HostPorts, 'store' | 'clock'>): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    // A token is accepted for up to a minute after its expiry, by hosts whose clocks are behind.
    const before = clock.now() - HOUR_MS;
    while (!signal.aborted) if ((await store.access.removeEnded(before, BATCH)) < BATCH) return;
  };
}

const HOUR_MS = 3_600_000;
const BATCH = 500;
