import type { Disturbance, Received } from '../evidence.ts';
import { type Case, nameOf, type Passage, type Rule } from './case.ts';

/**
 * Best effort attempts an event at most once. Durable mode attempts it at most as often as the policy says, and once
 * more for each outcome that a host may have lost.
 *
 * @see Interface: Events, Webhook delivery of events, 2 and 3
 */
export const attempts: Rule = (evidence) =>
  evidence.passages
    .filter(({ subscription, received }) => received.length > (subscription.durable ? evidence.policy.maxAttempts : 1))
    .map((passage) => ({ passage, count: passage.received.length, most: mostOf(passage, evidence) }))
    .filter(({ count, most }) => count > most)
    .map(({ passage, count, most }) => `${nameOf(passage)} was attempted ${count} times; the limit is ${most}`);

function mostOf({ subscription, received }: Passage, { policy, disturbances, attemptTimeoutMs }: Case): number {
  if (!subscription.durable) return 1;
  const during = disturbances.filter(
    (disturbance) => disturbance.losesOutcomes && overlaps(disturbance, received, attemptTimeoutMs),
  );
  return policy.maxAttempts + during.length + received.filter(isSentAgain).length;
}

/**
 * A request on a kept connection that breaks before the first byte of the response is sent again within the same
 * attempt.
 */
function isSentAgain({ answer, answeredAt }: Received): boolean {
  return answer === 'cut' || (answer !== 'hang' && answeredAt === undefined);
}

/** Adds a margin on both sides, because the receivers and the harness read their clocks at different times. */
function overlaps({ from, until }: Disturbance, received: readonly Received[], marginMs: number): boolean {
  const first = received[0]?.at ?? 0;
  const last = received.at(-1)?.at ?? 0;
  return from <= last + marginMs && until >= first - marginMs;
}
