import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import type { Subscription, SubscriptionDetails } from '../ports/subscriptions.ts';
import { conflict, managed, missing } from './operator-actions.ts';

/**
 * Changes the filter or the description of a subscription. An absent member stays as it is. Deliveries that are queued
 * already stay, too. The URL and the secret cannot be edited: the secret is one receiver's, so another receiver
 * registers for itself.
 *
 * @param editFor makes the change, given the subscription; throws when it does not fit its major
 * @throws {HostError} as `managed`; `subscription_state_conflict` for a push of a run
 */
export async function editSubscription(
  { store, clock, recordAudit }: ChangeServices,
  principal: Principal,
  webhookId: string,
  editFor: (subscription: Subscription) => Partial<SubscriptionDetails>,
): Promise<Subscription> {
  const subscription = await managed(store, principal, webhookId);
  if (subscription.push !== undefined) throw conflict('A push of a run cannot be edited. Replace it.');
  const edit = editFor(subscription);
  const target = `${subscription.tenant}/${webhookId}`;
  const details = { members: Object.keys(edit).join(' ') };
  const fact = factAbout(principal, { action: 'webhook.edit', target, at: clock.now(), details });
  await store.transaction(async (transaction) => {
    let isThere = false;
    const change = ({ events, tags, description }: Subscription): SubscriptionDetails => {
      isThere = true;
      return { events, tags, description, ...edit };
    };
    await store.subscriptions.updateDetails(webhookId, change, transaction);
    if (!isThere) throw missing();
    await recordAudit(fact, transaction);
  });
  return managed(store, principal, webhookId);
}
