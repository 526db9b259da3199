import type { Tenancy } from '@svc/auth';
import type { Backlog } from '../ports/backlog.ts';
import type { Store } from '../ports/store.ts';

/** More than so many are told as so many. */
export const BACKLOG_COUNTED = 10_000;

/** The backlog of the whole host, for its own measurements. */
export function hostBacklog(store: Pick<Store, 'backlog'>, now: number): Promise<Backlog> {
  return store.backlog.read({ webhookIds: undefined, now, limit: BACKLOG_COUNTED });
}

/** The backlog of the subscriptions that a caller manages, of a thousand at the most. */
export async function tenantBacklog(
  store: Pick<Store, 'subscriptions' | 'backlog'>,
  tenancy: Tenancy,
  now: number,
): Promise<Backlog> {
  const managed = await store.subscriptions.list(tenancy, { after: '', limit: SUBSCRIPTIONS_LOOKED_AT });
  const webhookIds = managed.map(({ webhookId }) => webhookId);
  return store.backlog.read({ webhookIds, now, limit: BACKLOG_COUNTED });
}

const SUBSCRIPTIONS_LOOKED_AT = 1000;
