import type { DeadLetter, KnownSubscription, Received } from '../evidence.ts';
import { type Case, isFor, isSuccess, type Passage, type Rule } from './case.ts';

/**
 * A dead letter is an event that its durable subscription asked for, once, whose attempts were used up by the policy, and no earlier
 * than the policy's waits allow; or its receiver had said that it is gone. One that was clearly delivered is none.
 *
 * @see Interface: Events, Webhook delivery of events, 3
 */
export const deadLetters: Rule = (evidence) => {
  const passages = new Map(
    evidence.passages.map((passage) => [keyOf(passage.subscription.name, passage.event.eventId), passage]),
  );
  const gone = goneSince(evidence);
  const seen = new Set<string>();
  return evidence.deadLetters.flatMap((letter) => {
    const key = keyOf(letter.name, letter.eventId);
    const faults = [
      ...(seen.has(key) ? ['is there twice'] : []),
      ...misplaced(passages.get(key), evidence.subscription.get(letter.name)),
      ...premature(letter, passages.get(key), gone.get(letter.name), evidence),
      ...delivered(passages.get(key), evidence),
    ];
    seen.add(key);
    return faults.map((fault) => `${letter.name}: the dead letter of ${letter.runId} (${letter.eventId}) ${fault}`);
  });
};

function keyOf(name: string, eventId: string): string {
  return `${name} ${eventId}`;
}

/** When the receivers that are gone said so first. */
function goneSince({ received }: Case): ReadonlyMap<string, number> {
  const gone = new Map<string, number>();
  for (const { name, answer, at } of received) if (answer === 410) gone.set(name, Math.min(at, gone.get(name) ?? at));
  return gone;
}

function misplaced(passage: Passage | undefined, subscription: KnownSubscription | undefined): string[] {
  if (subscription?.durable === false) return ['is of a best-effort subscription'];
  if (subscription === undefined || passage === undefined) return ['is of an event that no log has'];
  return isFor(subscription, passage.run, passage.event.type)
    ? []
    : ['is of an event that the subscription did not ask for'];
}

function premature(
  { attempts, at }: DeadLetter,
  passage: Passage | undefined,
  goneAt: number | undefined,
  { policy }: Case,
): string[] {
  if (goneAt !== undefined && at >= goneAt) return [];
  if (attempts !== policy.maxAttempts) return [`was given up after ${attempts} of ${policy.maxAttempts} attempts`];
  const tookMs = passage === undefined ? Number.POSITIVE_INFINITY : at - passage.event.at;
  return tookMs >= leastMs(policy) ? [] : [`was given up after ${tookMs} of ${leastMs(policy)} ms`];
}

/** All waits of the policy at their shortest: the jitter takes off a tenth. */
function leastMs({ maxAttempts, delayMs, maxDelayMs }: Case['policy']): number {
  const waits = Array.from({ length: maxAttempts - 1 }, (_, retry) => Math.min(delayMs * 2 ** retry, maxDelayMs));
  return Math.floor(waits.reduce((sum, wait) => sum + wait, 0) * 0.9);
}

/** Answered with success so early in its attempt that the host must have heard it, unless something was done to the host. */
function delivered(passage: Passage | undefined, { attemptTimeoutMs, disturbances }: Case): string[] {
  const isClear = ({ at, answeredAt }: Received): boolean =>
    answeredAt !== undefined &&
    answeredAt - at < attemptTimeoutMs / 4 &&
    !disturbances.some(
      ({ losesOutcomes, from, until }) =>
        losesOutcomes && from <= at + 5 * attemptTimeoutMs && until >= at - attemptTimeoutMs,
    );
  const success = passage?.received.find((received) => isSuccess(received) && isClear(received));
  return success === undefined ? [] : [`was delivered at ${new Date(success.at).toISOString()}`];
}
