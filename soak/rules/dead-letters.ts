import type { DeadLetter, KnownSubscription, Received } from '../evidence.ts';
import { type Case, isFor, isSuccess, type Passage, type Rule } from './case.ts';

/**
 * Every dead letter is listed once, matches its durable subscription, was not delivered, and has used up the attempts
 * and waits of the policy, unless its receiver answered 410 before.
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
      ...(seen.has(key) ? ['is listed twice'] : []),
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

/** Returns the time of the first 410 of each subscription. */
function goneSince({ received }: Case): ReadonlyMap<string, number> {
  const gone = new Map<string, number>();
  for (const { name, answer, at } of received) if (answer === 410) gone.set(name, Math.min(at, gone.get(name) ?? at));
  return gone;
}

function misplaced(passage: Passage | undefined, subscription: KnownSubscription | undefined): string[] {
  if (subscription?.durable === false) return ['is of a best-effort subscription'];
  if (subscription === undefined || passage === undefined) return ['is of an event that is in no log'];
  return isFor(subscription, passage.run, passage.event.type)
    ? []
    : ['is of an event that the subscription does not match'];
}

function premature(
  { attempts, at }: DeadLetter,
  passage: Passage | undefined,
  goneAt: number | undefined,
  { policy }: Case,
): string[] {
  if (goneAt !== undefined && at >= goneAt - CLOCKS_MS) return [];
  if (attempts !== policy.maxAttempts) return [`was dead-lettered after ${attempts} of ${policy.maxAttempts} attempts`];
  const tookMs = passage === undefined ? Number.POSITIVE_INFINITY : withoutSteps(at - passage.event.at);
  return tookMs >= leastMs(policy) ? [] : [`was dead-lettered after ${tookMs} of ${leastMs(policy)} ms`];
}

/**
 * Returns a duration without the hours by which clocks were set: an event has the time of its host, and a dead letter that
 * of the store. The waits of the policy are shorter than an hour.
 */
function withoutSteps(ms: number): number {
  return ((ms % HOUR_MS) + HOUR_MS) % HOUR_MS;
}

const HOUR_MS = 3_600_000;
/** By so much the clock of the store, as a host knows it, may differ from that of the receivers. */
const CLOCKS_MS = 1000;

/** Returns the sum of the policy's waits at their shortest, in ms: jitter can shorten each by a tenth. */
function leastMs({ maxAttempts, delayMs, maxDelayMs }: Case['policy']): number {
  const waits = Array.from({ length: maxAttempts - 1 }, (_, retry) => Math.min(delayMs * 2 ** retry, maxDelayMs));
  return Math.floor(waits.reduce((sum, wait) => sum + wait, 0) * 0.9);
}

/**
 * Finds a delivery that was accepted so early in its attempt that the host must have received the response, and without
 * a disturbance of the host near it.
 */
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
