import { type HeaderFamily, signDelivery } from '@svc/webhook-verify';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Random } from '../random.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import type { Store } from '../stores/store.ts';
import type { Transaction } from '../transaction.ts';
import type { AttemptRecord } from './attempt-log.ts';
import { admit } from './circuit.ts';
import type { ClaimedDelivery, Delivery, Settlement } from './delivery.ts';
import { healthAfter, type OutcomeRules, settlementAfter, succeeded } from './outcome.ts';
import { isDelivering, statusAfter } from './state.ts';
import type { Subscription } from './subscription.ts';
import type { Transport, TransportVerdict } from './transport.ts';

/**
 * One attempt at one claimed delivery, from the circuit to the settlement. Rejects only when its outcome could not be
 * recorded, or when `signal` aborted it.
 */
export type Attempt = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<void>;

export interface AttemptOptions {
  readonly store: Store;
  readonly transport: Transport;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly rules: OutcomeRules;
  readonly attemptTimeoutMs: number;
  /** How a delivery names its subscription in the id header. */
  readonly webhookIdOf: (subscription: Subscription) => string;
  readonly families: readonly HeaderFamily[];
  readonly userAgent: string;
}

export function attempt(options: AttemptOptions): Attempt {
  const { store, transport, secrets, clock, random, log, rules } = options;

  return async (delivery, signal) => {
    const subscription = await store.subscriptions.read(delivery.webhookId);
    if (subscription === undefined) return;
    // Paused since it was claimed: it waits with the others.
    if (subscription.status === 'paused') return store.deliveries.release([delivery]);
    if (!(await admitted(subscription))) return record(delivery, { kind: 'dropped' }, 'skipped', subscription);
    if (subscription.durable && !isDelivering(subscription.status)) return bury(delivery, subscription);

    // At most one attempt: should the host die during it, there is nothing left to attempt again.
    if (!subscription.durable && !(await forgetBefore(delivery))) return;
    // Unregistered while the store was asked: nothing starts any more.
    signal.throwIfAborted();
    const verdict = await post(delivery, subscription, signal);
    signal.throwIfAborted();
    const now = clock.now();
    const settlement = settlementAfter({ delivery, subscription, verdict, now }, rules, random);
    const stood = await store.transaction(async (transaction) => {
      const settled = !subscription.durable || (await store.deliveries.settle(delivery, settlement, transaction));
      await store.attempts.record(attemptRecord(delivery, verdict, now), transaction);
      if (succeeded(verdict) && isHealthy(subscription)) return settled;
      const change = (current: Subscription) => healthAfter(current, verdict, now, rules);
      await store.subscriptions.updateHealth(subscription.webhookId, change, transaction);
      return settled;
    });
    log({ ...recordOf(delivery, subscription, stood ? settlement.kind : 'claim-lost'), ...outcomeOf(verdict) });
  };

  /** Whether the delivery was still this host's to attempt. */
  function forgetBefore(delivery: ClaimedDelivery): Promise<boolean> {
    return store.transaction((transaction) => store.deliveries.settle(delivery, { kind: 'dropped' }, transaction));
  }

  /** Best effort asks the circuit, and the probe of a half-open one is taken in the same transaction. */
  async function admitted(subscription: Subscription): Promise<boolean> {
    if (subscription.durable) return true;
    if (!isDelivering(subscription.status)) return false;
    if (subscription.circuit.state === 'closed') return true;
    const probeMs = options.attemptTimeoutMs + PROBE_MARGIN_MS;
    return store.transaction(async (transaction) => {
      let through = false;
      const change = ({ status, failures, circuit }: Subscription) => {
        const decision = admit(circuit, clock.now(), probeMs);
        through = decision.admitted;
        return { status, failures, circuit: decision.circuit };
      };
      await store.subscriptions.updateHealth(subscription.webhookId, change, transaction);
      return through;
    });
  }

  async function post(delivery: Delivery, subscription: Subscription, signal: AbortSignal): Promise<TransportVerdict> {
    const { body, eventType } = delivery;
    const signature = signDelivery({
      body,
      secret: secrets.open(subscription.sealedSecret, subscription.webhookId),
      webhookId: options.webhookIdOf(subscription),
      eventType,
      timestamp: Math.floor(clock.now() / 1000),
      families: options.families,
    });
    const headers = { 'content-type': 'application/json', 'user-agent': options.userAgent, ...signature };
    return transport({ url: subscription.url, headers, body, timeoutMs: options.attemptTimeoutMs, signal });
  }

  /** Nothing is sent any more: straight to the dead letters. */
  async function bury(delivery: ClaimedDelivery, subscription: Subscription): Promise<void> {
    const now = clock.now();
    const { attempts } = delivery;
    const expiresAt = now + rules.deadLetterRetentionMs;
    const settlement = { kind: 'dead', at: now, expiresAt, attempts, lastStatus: undefined } as const;
    await record(delivery, settlement, 'subscription-failed', subscription, async (transaction) => {
      const change = ({ status, circuit, failures }: Subscription) => ({
        status: statusAfter(status, 'bury') ?? status,
        circuit,
        failures,
      });
      if (subscription.status === 'failed')
        await store.subscriptions.updateHealth(subscription.webhookId, change, transaction);
    });
  }

  /** What was settled without an attempt. */
  async function record(
    delivery: ClaimedDelivery,
    settlement: Settlement,
    reason: string,
    subscription: Subscription,
    also: (transaction: Transaction) => Promise<void> = async () => {},
  ): Promise<void> {
    const skipped = { kind: 'skipped', reason, durationMs: 0 } as const;
    const stood = await store.transaction(async (transaction) => {
      if (!(await store.deliveries.settle(delivery, settlement, transaction))) return false;
      await store.attempts.record(attemptRecord(delivery, skipped, clock.now()), transaction);
      await also(transaction);
      return true;
    });
    if (stood) log({ ...recordOf(delivery, subscription, settlement.kind), reason });
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

const PROBE_MARGIN_MS = 10_000;

/** A success changes nothing of a subscription that had no trouble, which spares the write. */
function isHealthy({ circuit }: Subscription): boolean {
  return circuit.state === 'closed' && circuit.consecutiveFailures === 0;
}

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
