import { ABSENT, OTHER_WORKSPACE } from '../../lookup.ts';
import { coversScope, type EventNumber, type Subscription, type SubscriptionStore } from '../../ports/subscriptions.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { type Journal, put } from './journal.ts';

export interface MemorySubscriptions extends SubscriptionStore {
  isPaused(webhookId: string): boolean;
  isThere(webhookId: string): boolean;
  tenantOf(webhookId: string): string | undefined;
}

/** @param drop deletes the deliveries and attempts of a subscription, in the transaction that removes it */
export function subscriptionStore(
  journal: Journal,
  drop: (webhookId: string, transaction: Transaction) => void,
): MemorySubscriptions {
  const subscriptions = new Map<string, Subscription>();
  /** The number of the last operational event about each subscription. */
  const numbers = new Map<string, EventNumber>();

  return {
    async insert(subscription, transaction) {
      put(journal, transaction, subscriptions, subscription.webhookId, subscription);
    },
    async remove(tenancy, webhookId, transaction) {
      const subscription = subscriptions.get(webhookId);
      if (subscription?.tenant !== tenancy.tenant || subscription.mode !== tenancy.mode) return ABSENT;
      if (!coversScope(tenancy, subscription)) return OTHER_WORKSPACE;
      put(journal, transaction, subscriptions, webhookId, undefined);
      put(journal, transaction, numbers, webhookId, undefined);
      drop(webhookId, transaction);
      return { kind: 'found', value: subscription };
    },
    async listening(topics) {
      return topics.map(({ tenant, mode, eventType }) =>
        [...subscriptions.values()].filter(
          (subscription) =>
            subscription.tenant === tenant && subscription.mode === mode && subscription.events.includes(eventType),
        ),
      );
    },
    async pushesOf({ tenant, mode, runId }) {
      const own = [...subscriptions.values()].filter((found) => found.tenant === tenant && found.mode === mode);
      return own.filter(({ push }) => push?.runId === runId);
    },
    async find(tenancy, webhookId) {
      const subscription = subscriptions.get(webhookId);
      if (subscription?.tenant !== tenancy.tenant || subscription.mode !== tenancy.mode) return ABSENT;
      return coversScope(tenancy, subscription) ? { kind: 'found', value: subscription } : OTHER_WORKSPACE;
    },
    async list(tenancy, { after, limit }) {
      const own = [...subscriptions.values()].filter(
        (subscription) =>
          subscription.tenant === tenancy.tenant &&
          subscription.mode === tenancy.mode &&
          subscription.webhookId > after &&
          coversScope(tenancy, subscription),
      );
      return own.sort((a, b) => (a.webhookId < b.webhookId ? -1 : 1)).slice(0, limit);
    },
    async read(webhookId) {
      return subscriptions.get(webhookId);
    },
    isThere: (webhookId) => subscriptions.has(webhookId),
    tenantOf: (webhookId) => subscriptions.get(webhookId)?.tenant,
    isPaused: (webhookId) => subscriptions.get(webhookId)?.status === 'paused',
    async updateState(webhookId, change, transaction) {
      const subscription = subscriptions.get(webhookId);
      if (subscription === undefined) return;
      const { outage: _, ...rest } = subscription;
      put(journal, transaction, subscriptions, webhookId, { ...rest, ...change(subscription) });
    },
    async updateDetails(webhookId, change, transaction) {
      const subscription = subscriptions.get(webhookId);
      if (subscription === undefined) return;
      const { description, ...rest } = change(subscription);
      const { description: _, ...kept } = subscription;
      const changed = { ...kept, ...rest, ...(description !== undefined && { description }) };
      put(journal, transaction, subscriptions, webhookId, changed);
    },
    async numberEvent(webhookId, runId, transaction) {
      if (!subscriptions.has(webhookId)) return undefined;
      const last = numbers.get(webhookId) ?? { runId, sequence: -1 };
      const next = { ...last, sequence: last.sequence + 1 };
      put(journal, transaction, numbers, webhookId, next);
      return next;
    },
    async updateSecrets(webhookId, change, transaction) {
      const subscription = subscriptions.get(webhookId);
      if (subscription === undefined) return;
      put(journal, transaction, subscriptions, webhookId, { ...subscription, ...change(subscription) });
    },
    forgetExpiredSecrets: (now, limit) =>
      journal.transaction(async (transaction) => {
        const expired = [...subscriptions.values()].filter(
          ({ previousSecret }) => previousSecret !== undefined && previousSecret.expiresAt <= now,
        );
        for (const subscription of expired.slice(0, limit)) {
          const { webhookId } = subscription;
          put(journal, transaction, subscriptions, webhookId, { ...subscription, previousSecret: undefined });
        }
        return Math.min(expired.length, limit);
      }),
    async page({ after, limit }) {
      const behind = [...subscriptions.values()].filter(({ webhookId }) => webhookId > after);
      return behind.sort((a, b) => (a.webhookId < b.webhookId ? -1 : 1)).slice(0, limit);
    },
  };
}
