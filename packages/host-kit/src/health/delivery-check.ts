import type { DispatcherProgress } from '../webhooks/dispatcher.ts';
import type { HealthCheck } from './check.ts';

/**
 * Whether the dispatcher does its work. How much waits says nothing of that: a receiver that is away has a backlog, and everybody else is
 * served.
 */
export function deliveryCheck(
  { roundSince, failingSince, attemptSince }: DispatcherProgress,
  attemptTimeoutMs: number,
  now: number,
): HealthCheck {
  const isOlder = (since: number | undefined, ms: number) => since !== undefined && now - since > ms;
  if (isOlder(roundSince, ROUND_MS) || isOlder(attemptSince, attemptTimeoutMs + SETTLING_MS)) {
    return { name: 'deliveries', ok: false, reason: 'stalled' };
  }
  if (isOlder(failingSince, FAILING_MS)) return { name: 'deliveries', ok: false, reason: 'failing' };
  return { name: 'deliveries', ok: true };
}

/** A round asks the store a few times, an attempt before and after its post; each of them within the deadline of a statement. */
const ROUND_MS = 60_000;
const SETTLING_MS = 60_000;
const FAILING_MS = 10_000;
