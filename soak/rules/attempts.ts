import type { Disturbance, Received } from '../evidence.ts';
import { type Case, nameOf, type Passage, type Rule } from './case.ts';

/**
 * Best effort attempts an event once at the most. Durable mode attempts it as often as the policy says, and beyond that once more for
 * each time that a host may have forgotten an outcome.
 *
 * @see Interface: Events, Webhook delivery of events, 2 and 3
 */
export const attempts: Rule = (evidence) =>
  evidence.passages
    .filter(({ subscription, received }) => received.length > (subscription.durable ? evidence.policy.maxAttempts : 1))
    .map((passage) => ({ passage, count: passage.received.length, most: mostOf(passage, evidence) }))
    .filter(({ count, most }) => count > most)
    .map(({ passage, count, most }) => `${nameOf(passage)} was attempted ${count} times, and ${most} is the most`);

function mostOf({ subscription, received }: Passage, { policy, disturbances, attemptTimeoutMs }: Case): number {
  if (!subscription.durable) return 1;
  const during = disturbances.filter(
    (disturbance) => disturbance.losesOutcomes && overlaps(disturbance, received, attemptTimeoutMs),
  );
  return policy.maxAttempts + during.length + received.filter(isSentAgain).length;
}

/** A request that got no byte of an answer on a kept connection is sent once more within the same attempt. */
function isSentAgain({ answer, answeredAt }: Received): boolean {
  return answer === 'cut' || (answer !== 'hang' && answeredAt === undefined);
}

/** A margin on either side: what the receiver and the harness call now is not the same instant. */
function overlaps({ from, until }: Disturbance, received: readonly Received[], marginMs: number): boolean {
  const first = received[0]?.at ?? 0;
  const last = received.at(-1)?.at ?? 0;
  return from <= last + marginMs && until >= first - marginMs;
}
