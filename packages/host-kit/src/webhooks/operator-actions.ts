import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import type { Lookup } from '../lookup.ts';
import { outagePaused, outageResumed } from '../ports/outage.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { Dispatcher } from './dispatcher.ts';
import { isDelivering, type SubscriptionSignal, statusAfter } from './status.ts';
import { changingState, type StateChanged } from './subscription-state.ts';

export interface OperatorActionOptions extends ChangeServices {
  readonly storeClock: Pick<StoreClock, 'now'>;
  readonly dispatcher: Pick<Dispatcher, 'wake'>;
  /** Called for each change of a subscription's state, after its commit. */
  readonly stateChanged: StateChanged;
}

/**
 * Finds a subscription that the caller may manage: one of its tenant and mode that covers no workspace beyond the
 * caller's reach.
 *
 * @throws {HostError} `not_found`, or `forbidden` when it covers a workspace that the caller does not reach
 */
export async function managed(store: Store, { tenancy }: Principal, webhookId: string): Promise<Subscription> {
  return foundIn(await store.subscriptions.find(tenancy, webhookId));
}

/**
 * Pauses or resumes a subscription. Deliveries wait while it is paused.
 *
 * @throws {HostError} as `managed`; `subscription_state_conflict` when the subscription has failed
 */
export async function moveSubscription(
  { store, clock, storeClock, dispatcher, recordAudit, stateChanged }: OperatorActionOptions,
  principal: Principal,
  webhookId: string,
  signal: Extract<SubscriptionSignal, 'pause' | 'resume'>,
): Promise<Subscription> {
  const { tenant } = await managed(store, principal, webhookId);
  const action = signal === 'pause' ? 'webhook.pause' : 'webhook.resume';
  const fact = factAbout(principal, { action, target: `${tenant}/${webhookId}`, at: clock.now() });
  await changingState(store, stateChanged, async (transaction, changeState) => {
    let isAllowed = false;
    await changeState(webhookId, ({ status, circuit, failures, outage }) => {
      const next = statusAfter(status, signal);
      isAllowed = next !== undefined;
      const now = storeClock.now();
      if (status === 'active' && next === 'paused')
        return { status: next, circuit, failures, outage: outagePaused(outage, now) };
      if (status === 'paused' && next === 'active')
        return { status: next, circuit, failures, outage: outageResumed(outage, now) };
      return { status: next ?? status, circuit, failures, outage };
    });
    if (!isAllowed) throw conflict(FAILED);
    await recordAudit(fact, transaction);
  });
  dispatcher.wake();
  return managed(store, principal, webhookId);
}

/**
 * Queues dead letters again, as if their events had just been appended.
 *
 * @param deliveryIds undefined: all dead letters of the subscription
 * @returns their number
 * @throws {HostError} as `managed`; `subscription_state_conflict` when the subscription has failed
 */
export async function redrive(
  { store, clock, storeClock, dispatcher, recordAudit }: OperatorActionOptions,
  principal: Principal,
  webhookId: string,
  deliveryIds: readonly string[] | undefined,
): Promise<number> {
  const subscription = await managed(store, principal, webhookId);
  requireDelivering(subscription);
  const { tenant } = subscription;
  const before = storeClock.now();
  let redriven = 0;
  for (let step = REDRIVE_STEP; step === REDRIVE_STEP; redriven += step) {
    step = await store.transaction(async (transaction) => {
      const request = { webhookId, deliveryIds, before, now: storeClock.now(), limit: REDRIVE_STEP };
      const count = await store.deliveries.redrive(request, transaction);
      const details = { deliveries: count };
      const fact = factAbout(principal, {
        action: 'webhook.redrive',
        target: `${tenant}/${webhookId}`,
        at: clock.now(),
        details,
      });
      if (count > 0) await recordAudit(fact, transaction);
      return count;
    });
  }
  dispatcher.wake();
  return redriven;
}

/** The dead letters of one transaction, so that a long list does not block other writers. */
const REDRIVE_STEP = 500;

function foundIn(lookup: Lookup<Subscription>): Subscription {
  if (lookup.kind === 'found') return lookup.value;
  if (lookup.kind === 'absent') {
    throw new HostError('not_found', 'There is no such subscription.', { details: undefined });
  }
  throw new HostError('forbidden', 'The subscription covers workspaces that this credential does not reach.', {
    details: undefined,
  });
}

/** @throws {HostError} `subscription_state_conflict` when the subscription has failed */
export function requireDelivering({ status }: Subscription): void {
  if (!isDelivering(status)) throw conflict(FAILED);
}

const FAILED = 'The subscription has failed and receives no more deliveries. Register it again.';

/** The refusal of a request that names a delivery or another part of a subscription that does not exist. */
export function missing(): HostError {
  return new HostError('not_found', 'There is no such subscription or delivery.', { details: undefined });
}

/** The refusal of a request that does not fit the state of the subscription. */
export function conflict(message: string): HostError {
  return new HostError('subscription_state_conflict', message, { details: undefined });
}
