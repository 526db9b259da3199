import type { Tenancy } from '@svc/auth';
import type { Lookup } from '../lookup.ts';
import type { Run } from '../runs/run.ts';
import type { Transaction } from '../transaction.ts';
import type { Subscription, SubscriptionHealth, SubscriptionSecrets } from './subscription.ts';

/**
 * How long a host may begin attempts on what it has read of a subscription. Where hosts share a store, a removal is answered only
 * when whatever the others had read before it has become too old.
 */
export const READING_GOOD_FOR_MS = 500;

/** What subscriptions listen to. */
export type Topic = Pick<Run, 'runId' | 'tenant' | 'mode' | 'workspace'> & { readonly eventType: string };

export interface SubscriptionStore {
  insert(subscription: Subscription, transaction: Transaction): Promise<void>;
  /**
   * Removes a subscription of the caller's tenant and mode whose whole scope the caller reaches, with every delivery that was
   * waiting for it.
   */
  remove(tenancy: Tenancy, webhookId: string, transaction: Transaction): Promise<Lookup<Subscription>>;
  /**
   * Of each topic the subscriptions of its tenant and mode that ask for its event type. Scope and tags are judged by `match.ts`.
   */
  listening(topics: readonly Topic[], transaction: Transaction): Promise<readonly (readonly Subscription[])[]>;
  /** Those that push this run, of any name. Holding the run is what permits it. */
  pushesOf(run: Run, transaction: Transaction): Promise<readonly Subscription[]>;
  /** A subscription that the caller manages: of its tenant and mode, and wholly within its reach. */
  find(tenancy: Tenancy, webhookId: string): Promise<Lookup<Subscription>>;
  /** Those that the caller manages, by their ids, those after `after` only. */
  list(tenancy: Tenancy, page: { readonly after: string; readonly limit: number }): Promise<readonly Subscription[]>;
  /** For the dispatcher, which acts for no caller. */
  read(webhookId: string): Promise<Subscription | undefined>;
  /** Replaces the health by `change` of what it is inside the transaction. Nothing happens when the subscription is gone. */
  updateHealth(
    webhookId: string,
    change: (subscription: Subscription) => SubscriptionHealth,
    transaction: Transaction,
  ): Promise<void>;
  /** The same for its secrets. */
  updateSecrets(
    webhookId: string,
    change: (subscription: Subscription) => SubscriptionSecrets,
    transaction: Transaction,
  ): Promise<void>;
  /** Deletes up to `limit` previous secrets that expired by `now`; returns how many there were. */
  forgetExpiredSecrets(now: number, limit: number): Promise<number>;
  /** Everybody's by their ids, those after `after` only: for the host itself, which acts for no caller. */
  page(page: { readonly after: string; readonly limit: number }): Promise<readonly Subscription[]>;
}
