import type { Principal } from '@svc/auth';
import { HostError } from '../errors.ts';
import type { Store } from '../stores/store.ts';
import type { Dispatcher } from './dispatcher.ts';

export interface UnregisterOptions {
  readonly store: Store;
  readonly dispatcher: Pick<Dispatcher, 'forget'>;
}

/**
 * Removes a subscription with all that was waiting for it. Once it resolves, no attempt for it starts any more.
 *
 * @param workspace narrows what the caller reaches to this one workspace
 * @throws {HostError} `not_found` when the caller's tenant has no such subscription, `forbidden` when its scope is wider than
 * the caller's
 */
export async function unregister(
  { store, dispatcher }: UnregisterOptions,
  { tenancy }: Principal,
  webhookId: string,
  workspace: string | undefined,
): Promise<void> {
  const reach = workspace === undefined ? tenancy : { ...tenancy, workspaces: [workspace] };
  const removed = await store.transaction((transaction) => store.subscriptions.remove(reach, webhookId, transaction));
  if (removed.kind === 'found') return dispatcher.forget(webhookId);
  if (removed.kind === 'absent' || workspace !== undefined) {
    throw new HostError('not_found', 'There is no such subscription.', { details: undefined });
  }
  throw new HostError('forbidden', 'The subscription hears of workspaces that this credential does not reach.', {
    details: undefined,
  });
}
