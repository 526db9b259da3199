import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import type { Delivery } from '../ports/deliveries.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { Dispatcher } from './dispatcher.ts';
import { findDelivery } from './find-deliveries.ts';
import { conflict, managed, missing, requireDelivering } from './operator-actions.ts';
import type { Rendered } from './outbox.ts';

export interface ResendOptions extends ChangeServices {
  readonly storeClock: Pick<StoreClock, 'now'>;
  readonly dispatcher: Pick<Dispatcher, 'wake'>;
  /** Renders the body of a delivery, in the wire format of a major. */
  readonly render: (run: Run, event: RunEvent, major: Subscription['major']) => Rendered;
}

/**
 * Queues a delivery again: a dead letter, or one that was delivered. It keeps its id, so a receiver that has handled
 * the event recognises the repetition. One that waits already stays as it is.
 *
 * @returns whether it was queued
 * @throws {HostError} as `managed`; `not_found` for an unknown delivery; `subscription_state_conflict` when the
 * subscription has failed, or the event is no longer stored
 */
export async function resend(
  options: ResendOptions,
  principal: Principal,
  webhookId: string,
  deliveryId: string,
): Promise<boolean> {
  const { store, clock, storeClock, dispatcher, recordAudit, render } = options;
  const subscription = await managed(store, principal, webhookId);
  requireDelivering(subscription);
  const found = await findDelivery(options, subscription, deliveryId);
  if (found === undefined) throw missing();
  const { delivery } = found;
  if (delivery.state === 'waiting') return false;
  const isDead = delivery.state === 'dead';
  const again = isDead ? undefined : await rebuilt(delivery.runId, delivery.sequence);
  const target = `${subscription.tenant}/${webhookId}`;
  const fact = factAbout(principal, { action: 'webhook.resend', target, at: clock.now(), details: { deliveryId } });
  const count = await store.transaction(async (transaction) => {
    const now = storeClock.now();
    const request = { webhookId, deliveryIds: [deliveryId], before: now, now, limit: 1 };
    const queued =
      again === undefined
        ? await store.deliveries.redrive(request, transaction)
        : await store.deliveries.enqueueAgain([again], transaction);
    if (queued > 0) await recordAudit(fact, transaction);
    return queued;
  });
  dispatcher.wake();
  return count > 0;

  /** The event log still has the event: the body is rendered as it was the first time. */
  async function rebuilt(runId: string, sequence: number): Promise<Delivery> {
    const { tenant, mode, workspaces, major } = subscription;
    const run = await store.runs.read({ tenant, mode, workspaces }, runId);
    const [event] = run.kind === 'found' ? await store.events.list(run.value, { after: sequence - 1, limit: 1 }) : [];
    if (run.kind !== 'found' || event?.sequence !== sequence || subscription.push !== undefined) {
      throw conflict('The event of this delivery is no longer stored, so it cannot be sent again.');
    }
    const { eventId } = event;
    const rendered = render(run.value, event, major);
    return { deliveryId, webhookId, runId, eventId, sequence, ...rendered, attempts: 0, dueAt: storeClock.now() };
  }
}
