import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Dispatcher } from './dispatcher.ts';
import { stopDelivering } from './stop-delivering.ts';

export interface UnregisterOptions extends ChangeServices {
  readonly dispatcher: Pick<Dispatcher, 'forget'>;
}

/**
 * Removes a subscription with its pending deliveries. After it resolves, no host starts an attempt for it.
 *
 * @param workspace limits the caller's reach to this workspace
 * @param save is called in the transaction of the removal
 * @throws {HostError} `not_found` when the caller's tenant has no such subscription, `forbidden` when it covers a
 * workspace that the caller does not reach
 */
export async function unregister(
  { store, clock, dispatcher, recordAudit }: UnregisterOptions,
  principal: Principal,
  webhookId: string,
  workspace: string | undefined,
  save: Save<void> = saveNothing,
): Promise<void> {
  const { tenancy } = principal;
  const reach = workspace === undefined ? tenancy : { ...tenancy, workspaces: [workspace] };
  const removed = await store.transaction(async (transaction) => {
    const found = await store.subscriptions.remove(reach, webhookId, transaction);
    const target = `${tenancy.tenant}/${webhookId}`;
    const fact = factAbout(principal, { action: 'webhook.unregister', target, at: clock.now() });
    if (found.kind !== 'found') return found;
    await recordAudit(fact, transaction);
    await save(undefined, transaction);
    return found;
  });
  if (removed.kind === 'found') return await stopDelivering({ store, clock, dispatcher }, [webhookId]);
  if (removed.kind === 'absent' || workspace !== undefined) {
    throw new HostError('not_found', 'There is no such subscription.', { details: undefined });
  }
  throw new HostError('forbidden', 'The subscription covers workspaces that this credential does not reach.', {
    details: undefined,
  });
}
