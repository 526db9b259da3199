import type { DispatcherProgress } from '../webhooks/dispatcher.ts';
import type { HealthCheck } from './check.ts';

/**
 * Checks that the dispatcher makes progress. The size of the backlog is no measure: while one receiver is away its
 * deliveries wait, and all others are delivered.
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

/**
 * Time for the queries of a round, and for those before and after the post of an attempt: each has the deadline of a
 * statement.
 */
const ROUND_MS = 60_000;
const SETTLING_MS = 60_000;
const FAILING_MS = 10_000;
