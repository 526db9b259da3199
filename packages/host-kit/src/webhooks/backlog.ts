import type { Tenancy } from '@svc/auth';
import type { Backlog } from '../ports/backlog.ts';
import type { Store } from '../ports/store.ts';
import type { Dispatcher } from './dispatcher.ts';

/** Counts stop here: a longer backlog is reported as 10 000. */
export const BACKLOG_COUNTED = 10_000;

/** The places in which due deliveries wait: the queue, and the memory of this host. */
export interface BacklogSources<Of extends keyof Store = 'backlog'> {
  readonly store: Pick<Store, Of | 'backlog'>;
  readonly dispatcher: Pick<Dispatcher, 'handedOver'>;
}

/** Reads the backlog of the whole host, for metrics. */
export function hostBacklog(sources: BacklogSources, now: number): Promise<Backlog> {
  return backlogOf(sources, undefined, now);
}

/** Reads the backlog of the subscriptions that a caller manages, of the first 1000 by id. */
export async function tenantBacklog(
  sources: BacklogSources<'subscriptions'>,
  tenancy: Tenancy,
  now: number,
): Promise<Backlog> {
  const managed = await sources.store.subscriptions.list(tenancy, { after: '', limit: MAX_SUBSCRIPTIONS });
  const webhookIds = managed.map(({ webhookId }) => webhookId);
  return backlogOf(sources, webhookIds, now);
}

async function backlogOf(
  { store, dispatcher }: BacklogSources,
  webhookIds: readonly string[] | undefined,
  now: number,
): Promise<Backlog> {
  const queued = await store.backlog.read({ webhookIds, now, limit: BACKLOG_COUNTED });
  const handedOver = dispatcher.handedOver(webhookIds);
  const times = [queued.oldestDueAt, handedOver.oldestDueAt].filter((time) => time !== undefined);
  return {
    due: Math.min(queued.due + handedOver.due, BACKLOG_COUNTED),
    oldestDueAt: times.length === 0 ? undefined : Math.min(...times),
  };
}

const MAX_SUBSCRIPTIONS = 1000;
