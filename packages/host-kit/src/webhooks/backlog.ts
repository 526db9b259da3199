import type { Tenancy } from '@svc/auth';
import type { Backlog } from '../ports/backlog.ts';
import type { Store } from '../ports/store.ts';

/** Counts stop here: a longer backlog is reported as 10 000. */
export const BACKLOG_COUNTED = 10_000;

/** Reads the backlog of the whole host, for metrics. */
export function hostBacklog(store: Pick<Store, 'backlog'>, now: number): Promise<Backlog> {
  return store.backlog.read({ webhookIds: undefined, now, limit: BACKLOG_COUNTED });
}

/** Reads the backlog of the subscriptions that a caller manages, of the first 1000 by id. */
export async function tenantBacklog(
  store: Pick<Store, 'subscriptions' | 'backlog'>,
  tenancy: Tenancy,
  now: number,
): Promise<Backlog> {
  const managed = await store.subscriptions.list(tenancy, { after: '', limit: MAX_SUBSCRIPTIONS });
  const webhookIds = managed.map(({ webhookId }) => webhookId);
  return store.backlog.read({ webhookIds, now, limit: BACKLOG_COUNTED });
}

const MAX_SUBSCRIPTIONS = 1000;
