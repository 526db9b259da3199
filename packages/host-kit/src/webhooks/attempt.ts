import type { AttemptRecord } from '../ports/attempts.ts';
import type { Clock } from '../ports/clock.ts';
import type { ClaimedDelivery, Delivery, Settlement } from '../ports/deliveries.ts';
import { describeError, type Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import { READING_GOOD_FOR_MS, type Subscription, type SubscriptionState } from '../ports/subscriptions.ts';
import type { Transport, TransportVerdict } from '../ports/transport.ts';
import { admit } from './circuit.ts';
import { changesState, type OutcomeRules, settlementAfter, stateAfter, succeeded } from './outcome.ts';
import { settling } from './settle.ts';
import type { SignAttempt } from './signing.ts';
import { isDelivering, statusAfter } from './status.ts';
import { changingState, type StateChanged } from './subscription-state.ts';

/**
 * One attempt at one claimed delivery, from the circuit to the settlement. Rejects only when its outcome could not be
 * recorded, or when `signal` aborted it.
 *
 * @returns what has become durable; undefined when nothing has, because the subscription is gone or paused
 */
export type Attempt = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<AttemptResult | undefined>;

export interface AttemptResult {
  /** As it was when the attempt began. */
  readonly subscription: Subscription;
  /** Undefined: nothing was sent. */
  readonly verdict: TransportVerdict | undefined;
  /** Undefined: the claim was lost meanwhile, and whoever has it now settles. */
  readonly settlement: Settlement | undefined;
}

export interface AttemptOptions {
  readonly store: Store;
  readonly transport: Transport;
  readonly sign: SignAttempt;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Told of each change of a subscription's health, once it is durable. */
  readonly moved: StateChanged;
  readonly rules: OutcomeRules;
  readonly attemptTimeoutMs: number;
  readonly userAgent: string;
}

export function attempt(options: AttemptOptions): Attempt {
  const { store, transport, sign, clock, random, log, moved, rules } = options;
  const settle = settling(store, moved);

  return async (delivery, signal) => {
    const readAt = clock.now();
    const subscription = await store.subscriptions.read(delivery.webhookId);
    if (subscription === undefined) return undefined;
    // Paused since it was claimed: it waits with the others.
    if (subscription.status === 'paused') {
      await store.deliveries.release([delivery]);
      return undefined;
    }
    if (!(await admitted(subscription))) return record(delivery, { kind: 'dropped' }, 'skipped', subscription);
    if (subscription.durable && !isDelivering(subscription.status)) return bury(delivery, subscription);

    // At most one attempt: should the host die during it, there is nothing left to attempt again.
    if (!subscription.durable && !(await forgetBefore(delivery))) return undefined;
    // Unregistered while the store was asked, here or at another host: nothing starts any more.
    const current = await lastReading(subscription, readAt);
    if (current === undefined) return undefined;
    signal.throwIfAborted();
    const signature = signed(delivery, current);
    const verdict = signature === undefined ? UNSIGNED : await post(delivery, current, signature, signal);
    signal.throwIfAborted();
    const now = clock.now();
    const settlement = settlementAfter({ delivery, subscription, verdict, now }, rules, random);
    const stood = await settle({
      delivery,
      settlement: subscription.durable ? settlement : undefined,
      attempt: attemptRecord(delivery, verdict, now),
      // The host's own trouble is not held against the receiver.
      health:
        verdict !== UNSIGNED && changesState(subscription, verdict)
          ? (current) => stateAfter(current, verdict, now, rules)
          : undefined,
      isSent: true,
    });
    log({ ...recordOf(delivery, subscription, stood ? settlement.kind : 'claim-lost'), ...outcomeOf(verdict) });
    return { subscription, verdict, settlement: stood ? settlement : undefined };
  };

  /** Whether the delivery was still this host's to attempt. */
  function forgetBefore(delivery: ClaimedDelivery): Promise<boolean> {
    const settlement = { kind: 'dropped' } as const;
    return settle({ delivery, settlement, attempt: undefined, health: undefined, isSent: false });
  }

  /** Reads once more what was read so long ago that its removal may have been answered, or its secret replaced. */
  async function lastReading(subscription: Subscription, since: number): Promise<Subscription | undefined> {
    let last: Subscription | undefined = subscription;
    let readAt = since;
    for (let more = MOST_READINGS; last && clock.now() - readAt > READING_GOOD_FOR_MS; more--) {
      if (more === 0) throw new Error('The store answers too slowly for an attempt to begin.');
      readAt = clock.now();
      last = await store.subscriptions.read(subscription.webhookId);
    }
    return last;
  }

  /** Best effort asks the circuit, and the probe of a half-open one is taken in the same transaction. */
  async function admitted(subscription: Subscription): Promise<boolean> {
    if (subscription.durable) return true;
    if (!isDelivering(subscription.status)) return false;
    if (subscription.circuit.state === 'closed') return true;
    const probeMs = options.attemptTimeoutMs + PROBE_MARGIN_MS;
    return changingState(store, moved, async (_transaction, changeHealth) => {
      let through = false;
      await changeHealth(subscription.webhookId, ({ status, failures, circuit }) => {
        const decision = admit(circuit, clock.now(), probeMs);
        through = decision.admitted;
        return { status, failures, circuit: decision.circuit };
      });
      return through;
    });
  }

  function signed(delivery: Delivery, subscription: Subscription): Record<string, string> | undefined {
    try {
      return sign(delivery, subscription, clock.now());
    } catch (error) {
      const { webhookId } = subscription;
      log({ level: 'error', event: 'delivery.not-signed', webhookId, ...describeError(error) });
      return undefined;
    }
  }

  /** For all that is known, a transport that throws has sent something: it counts as an attempt that failed. */
  async function post(
    { deliveryId, body }: Delivery,
    { url, durable }: Subscription,
    signature: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<TransportVerdict> {
    const startedAt = clock.now();
    const headers = { 'content-type': 'application/json', 'user-agent': options.userAgent, ...signature };
    const request = { url, headers, body, timeoutMs: options.attemptTimeoutMs, signal };
    try {
      return await transport(durable ? request : { ...request, once: 'kept' });
    } catch (error) {
      signal.throwIfAborted();
      log({ level: 'error', event: 'delivery.transport-failed', deliveryId, ...describeError(error) });
      return { kind: 'failed', reason: 'transport', durationMs: clock.now() - startedAt };
    }
  }

  /** Nothing is sent any more: straight to the dead letters. */
  async function bury(delivery: ClaimedDelivery, subscription: Subscription): Promise<AttemptResult | undefined> {
    const now = clock.now();
    const { attempts } = delivery;
    const expiresAt = now + rules.deadLetterRetentionMs;
    const settlement = { kind: 'dead', at: now, expiresAt, attempts, lastStatus: undefined } as const;
    const buried = ({ status, circuit, failures }: Subscription): SubscriptionState => ({
      status: statusAfter(status, 'dead-letter') ?? status,
      circuit,
      failures,
    });
    const health = subscription.status === 'failed' ? buried : undefined;
    return record(delivery, settlement, 'subscription-failed', subscription, health);
  }

  /** What was settled without an attempt. */
  async function record(
    delivery: ClaimedDelivery,
    settlement: Settlement,
    reason: string,
    subscription: Subscription,
    health?: (subscription: Subscription) => SubscriptionState,
  ): Promise<AttemptResult | undefined> {
    const skipped = { kind: 'skipped', reason, durationMs: 0 } as const;
    const attempt = attemptRecord(delivery, skipped, clock.now());
    const stood = await settle({ delivery, settlement, attempt, health, isSent: false });
    if (!stood) return undefined;
    log({ ...recordOf(delivery, subscription, settlement.kind), reason });
    return { subscription, verdict: undefined, settlement };
  }
}

type Skipped = { readonly kind: 'skipped'; readonly reason: string; readonly durationMs: number };

function attemptRecord(delivery: Delivery, verdict: TransportVerdict | Skipped, at: number): AttemptRecord {
  const { deliveryId, webhookId, runId, sequence, eventType, attempts } = delivery;
  const isAnswer = verdict.kind === 'answered';
  return {
    deliveryId,
    webhookId,
    runId,
    sequence,
    eventType,
    attempt: attempts + 1,
    at,
    durationMs: verdict.durationMs,
    outcome: isAnswer ? (succeeded(verdict) ? 'delivered' : 'failed') : verdict.kind,
    status: isAnswer ? verdict.status : undefined,
    reason: isAnswer ? undefined : verdict.reason,
  };
}

const MOST_READINGS = 5;
/** A secret could not be opened, so nothing was sent. It is retried and dead-lettered like any other failure. */
const UNSIGNED: TransportVerdict = { kind: 'failed', reason: 'unsigned', durationMs: 0 };

const PROBE_MARGIN_MS = 10_000;

function recordOf(delivery: Delivery, subscription: Subscription, settlement: string) {
  return {
    level: settlement === 'delivered' ? 'info' : 'warn',
    event: 'delivery.attempted',
    deliveryId: delivery.deliveryId,
    webhookId: delivery.webhookId,
    tenant: subscription.tenant,
    eventType: delivery.eventType,
    attempt: delivery.attempts + 1,
    settlement,
  } as const;
}

function outcomeOf(verdict: TransportVerdict) {
  const durationMs = Math.round(verdict.durationMs * 10) / 10;
  return verdict.kind === 'answered'
    ? { status: verdict.status, durationMs }
    : { outcome: verdict.kind, reason: verdict.reason, durationMs };
}
