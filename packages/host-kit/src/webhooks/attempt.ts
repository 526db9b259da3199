import type { CapturedAnswer } from '../ports/captured-answers.ts';
import type { ClaimedDelivery, Settlement } from '../ports/deliveries.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import { READING_GOOD_FOR_MS, type Subscription } from '../ports/subscriptions.ts';
import { UnreadableRecord } from '../ports/unreadable-record.ts';
import { admission } from './admission.ts';
import type { Announce } from './announce.ts';
import { type AttemptResult, attemptLogRecord, attemptRecord } from './attempt-result.ts';
import type { AnswerToCapture } from './capture.ts';
import type { HeldSubscriptions } from './held.ts';
import { isOperationalEvent } from './operational-event.ts';
import { changesState, type FinishedAttempt, type OutcomeRules, settlementAfter, stateAfter } from './outcome.ts';
import type { Place } from './places.ts';
import { type SendOptions, sender, UNSIGNED } from './send.ts';
import { type EndedDelivery, settling } from './settle.ts';
import { skipping } from './skip.ts';
import { isDelivering } from './status.ts';
import type { StateChanged } from './subscription-state.ts';

/**
 * Makes one attempt at one claimed delivery, from the circuit to the settlement. Rejects only when the outcome could
 * not be stored, or when `signal` aborted the attempt.
 *
 * @param place given back as soon as it is clear that nothing will be sent: an open circuit holds no place
 * @returns undefined when nothing became durable, because the subscription is gone or paused, or the claim was lost
 */
export type Attempt = (
  delivery: ClaimedDelivery,
  signal: AbortSignal,
  place: Place,
) => Promise<AttemptResult | undefined>;

export interface AttemptOptions extends SendOptions, Pick<HostPorts, 'store' | 'random'> {
  /** Retries, circuits and outages go by it. */
  readonly storeClock: Pick<StoreClock, 'now'>;
  /** Called with each change of a subscription's state, once it is durable. */
  readonly stateChanged: StateChanged;
  readonly announce: Announce;
  readonly rules: OutcomeRules;
  /** Encrypts the answer of a failing receiver. Default: no answer is captured. */
  readonly capture?: ((answer: AnswerToCapture) => CapturedAnswer) | undefined;
  /** Gets each subscription whose deliveries cannot be signed. */
  readonly held: Pick<HeldSubscriptions, 'hold'>;
}

export function attempt(options: AttemptOptions): Attempt {
  const { store, clock, storeClock, random, log, rules } = options;
  const settle = settling(options);
  const isAdmitted = admission(options);
  const { drop, deadLetter } = skipping({ settle, clock, storeClock, log, rules });
  const { sign, post } = sender(options);

  return async (delivery, signal, place) => {
    const readAt = clock.monotonic();
    const subscription = await readSubscription(delivery.webhookId);
    if (subscription === undefined) return undefined;
    if (subscription === 'unreadable') {
      place.giveBack();
      // The delivery waits until the subscription is restored.
      options.held.hold(delivery.webhookId, storeClock.now());
      await store.deliveries.release([delivery], storeClock.now());
      return undefined;
    }
    if (subscription.status === 'paused') {
      place.giveBack();
      // Paused after the claim. The delivery waits for `resume`, with the others.
      await store.deliveries.release([delivery], storeClock.now());
      return undefined;
    }
    // A durable subscription has no circuit.
    if (!subscription.durable && !(await isAdmitted(subscription))) {
      place.giveBack();
      return drop(delivery, subscription);
    }
    if (subscription.durable && !isDelivering(subscription.status)) {
      place.giveBack();
      return deadLetter(delivery, subscription);
    }

    // Best effort leaves the queue before its attempt, so the secret is tried before that.
    if (!subscription.durable && sign(delivery, subscription) === undefined) return hold(delivery, subscription);
    // Best effort is attempted once at most: a host that dies during the attempt must leave nothing to attempt again.
    if (!subscription.durable && !(await settle(droppedBeforeAttempt(delivery)))) return undefined;
    const isFresh = clock.monotonic() - readAt <= READING_GOOD_FOR_MS;
    const current = isFresh ? subscription : await freshSubscription(options, subscription, readAt);
    if (current === undefined) return undefined;
    signal.throwIfAborted();
    // Signed at the last moment: the secret may have been rotated, and its overlap may have ended.
    const signature = sign(delivery, current);
    if (signature === undefined && subscription.durable) return hold(delivery, subscription);
    const { verdict, phases } = signature === undefined ? UNSIGNED : await post(delivery, current, signature, signal);
    signal.throwIfAborted();

    const finished = { delivery, subscription, verdict, now: storeClock.now(), date: clock.now() };
    const settlement = settlementAfter(finished, rules, random);
    const record = attemptRecord(delivery, verdict, finished.date, phases);
    const failure = verdict.kind === 'answered' ? verdict.failure : undefined;
    const claimHeld = await settle({
      delivery,
      settlement: subscription.durable ? settlement : undefined,
      attempt: record,
      answer: failure && options.capture?.({ attempt: record, failure, signature: signature ?? {}, delivery }),
      nextState: nextStateAfter(finished, settlement, rules),
      isSent: true,
    });
    log(attemptLogRecord(delivery, subscription, verdict, claimHeld ? settlement.kind : 'claim-lost'));
    return { subscription, verdict, settlement: claimHeld ? settlement : undefined };
  };

  async function readSubscription(webhookId: string): Promise<Subscription | 'unreadable' | undefined> {
    try {
      return await store.subscriptions.read(webhookId);
    } catch (error) {
      if (error instanceof UnreadableRecord) return 'unreadable';
      throw error;
    }
  }

  /** Leaves a delivery that cannot be signed in the queue, as if it had not been claimed. */
  async function hold(delivery: ClaimedDelivery, subscription: Subscription): Promise<AttemptResult> {
    options.held.hold(delivery.webhookId, storeClock.now());
    await store.deliveries.release([delivery], storeClock.now());
    return { subscription, verdict: undefined, settlement: undefined, isHeld: true };
  }
}

function droppedBeforeAttempt(delivery: ClaimedDelivery): EndedDelivery {
  return { delivery, settlement: { kind: 'dropped' }, attempt: undefined, nextState: undefined, isSent: false };
}

/** A receiver is not blamed for a delivery that the host could not sign. */
function nextStateAfter(
  { delivery, subscription, verdict, now }: FinishedAttempt,
  settlement: Settlement,
  rules: OutcomeRules,
): EndedDelivery['nextState'] {
  const isOperational = isOperationalEvent(delivery.eventType);
  const ended = { verdict, now, isDeadLetter: settlement.kind === 'dead', isOperational };
  if (verdict === UNSIGNED.verdict || !changesState(subscription, ended, rules)) return undefined;
  return (current) => stateAfter(current, ended, rules);
}

/**
 * Reads the subscription again when it was read too long ago: meanwhile a caller may have been told that it is
 * removed, or that its secret is replaced.
 *
 * @returns undefined when the subscription is gone
 * @throws {Error} when six readings in a row took too long
 */
async function freshSubscription(
  { store, clock }: Pick<AttemptOptions, 'store' | 'clock'>,
  subscription: Subscription,
  firstReadAt: number,
): Promise<Subscription | undefined> {
  let latest: Subscription | undefined = subscription;
  let readAt = firstReadAt;
  for (let left = MAX_REREADS; latest && clock.monotonic() - readAt > READING_GOOD_FOR_MS; left--) {
    if (left === 0) throw new Error(TOO_SLOW);
    readAt = clock.monotonic();
    latest = await store.subscriptions.read(subscription.webhookId);
  }
  return latest;
}

const MAX_REREADS = 5;
const TOO_SLOW = `Reading a subscription took more than ${READING_GOOD_FOR_MS} ms, ${MAX_REREADS + 1} times in a row.`;
