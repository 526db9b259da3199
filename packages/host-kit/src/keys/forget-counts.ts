import { periodAt, type QuotaPeriod } from '@svc/auth/api-key';
import type { HostPorts } from '../ports/host-ports.ts';
import type { StoreClock } from '../ports/store-clock.ts';

/** Deletes the counts of quotas whose periods have ended. One round of a periodic task. */
export function forgetCounts({
  store,
  storeClock,
}: Pick<HostPorts, 'store'> & { readonly storeClock: Pick<StoreClock, 'read'> }): (
  signal: AbortSignal,
) => Promise<void> {
  return async (signal) => {
    const now = await storeClock.read();
    const before = { day: formerPeriod('day', now), month: formerPeriod('month', now) };
    while (!signal.aborted) if ((await store.apiKeys.sweepCounts(before, BATCH)) < BATCH) return;
  };
}

/** The beginning of the period before this one. Its counts stay: a host whose clock is behind may still draw on them. */
function formerPeriod(period: QuotaPeriod, now: number): number {
  return periodAt(period, periodAt(period, now).startsAt - 1).startsAt;
}

const BATCH = 500;
