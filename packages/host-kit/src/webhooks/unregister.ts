import type { Principal } from '@svc/auth';
import type { AuditFact } from '@svc/auth/audit';
import { factAbout } from '../audit/fact.ts';
import type { Clock } from '../clock.ts';
import { HostError } from '../errors.ts';
import type { Store } from '../stores/store.ts';
import type { Transaction } from '../transaction.ts';
import { cease } from './cease.ts';
import type { Dispatcher } from './dispatcher.ts';

export interface UnregisterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly dispatcher: Pick<Dispatcher, 'forget'>;
  /** Writes an audit fact in the transaction of what it records. */
  readonly record: (fact: AuditFact, transaction: Transaction) => Promise<void>;
}

/**
 * Removes a subscription with all that was waiting for it. Once it resolves, no attempt for it starts any more, at whatever host.
 *
 * @param workspace narrows what the caller reaches to this one workspace
 * @param removing is told of it in the same transaction
 * @throws {HostError} `not_found` when the caller's tenant has no such subscription, `forbidden` when its scope is wider than
 * the caller's
 */
export async function unregister(
  { store, clock, dispatcher, record }: UnregisterOptions,
  principal: Principal,
  webhookId: string,
  workspace: string | undefined,
  removing: (transaction: Transaction) => Promise<void> = async () => {},
): Promise<void> {
  const { tenancy } = principal;
  const reach = workspace === undefined ? tenancy : { ...tenancy, workspaces: [workspace] };
  const removed = await store.transaction(async (transaction) => {
    const found = await store.subscriptions.remove(reach, webhookId, transaction);
    const target = `${tenancy.tenant}/${webhookId}`;
    const fact = factAbout(principal, { action: 'webhook.unregister', target, at: clock.now() });
    if (found.kind !== 'found') return found;
    await record(fact, transaction);
    await removing(transaction);
    return found;
  });
  if (removed.kind === 'found') return await cease({ store, clock, dispatcher }, [webhookId]);
  if (removed.kind === 'absent' || workspace !== undefined) {
    throw new HostError('not_found', 'There is no such subscription.', { details: undefined });
  }
  throw new HostError('forbidden', 'The subscription hears of workspaces that this credential does not reach.', {
    details: undefined,
  });
}
