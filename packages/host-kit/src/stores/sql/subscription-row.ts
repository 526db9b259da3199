import type { Subscription } from '../../webhooks/subscription.ts';
import { bytes, type Row, text } from './row.ts';

type Document = Omit<
  Subscription,
  'webhookId' | 'tenant' | 'mode' | 'status' | 'circuit' | 'failures' | 'sealedSecret'
>;

/** What never changes of a subscription, as it is stored. */
export function documentOf(subscription: Subscription): string {
  const { workspaces, major, url, events, tags, durable, secretFingerprint, createdAt } = subscription;
  return JSON.stringify({ workspaces, major, url, events, tags, durable, secretFingerprint, createdAt });
}

export function subscriptionOf(row: Row): Subscription {
  const document: Document = JSON.parse(text(row, 'document'));
  return {
    ...document,
    webhookId: text(row, 'webhook_id'),
    tenant: text(row, 'tenant'),
    mode: text(row, 'mode') === 'test' ? 'test' : 'live',
    status: statusOf(text(row, 'status')),
    circuit: JSON.parse(text(row, 'circuit')),
    failures: JSON.parse(text(row, 'failures')),
    sealedSecret: bytes(row, 'sealed_secret'),
  };
}

/** What this version does not know is delivered to no more, rather than by guess. */
function statusOf(value: string): Subscription['status'] {
  return value === 'active' || value === 'paused' || value === 'dead-lettered' ? value : 'failed';
}
