import type { PreviousSecret, Subscription, SubscriptionSecrets } from '../../ports/subscriptions.ts';
import { bytes, integer, type Row, text } from './row.ts';

type Document = Omit<
  Subscription,
  | 'webhookId'
  | 'tenant'
  | 'mode'
  | 'status'
  | 'circuit'
  | 'failures'
  | 'sealedSecret'
  | 'secretFingerprint'
  | 'previousSecret'
  | 'signatureAlgorithms'
> &
  // Older documents do not say, because there was one.
  Partial<Pick<Subscription, 'signatureAlgorithms'>>;

/** What never changes of a subscription, as it is stored. */
export function documentOf(subscription: Subscription): string {
  const { workspaces, major, url, events, tags, durable, signatureAlgorithms, push, createdAt } = subscription;
  return JSON.stringify({ workspaces, major, url, events, tags, durable, signatureAlgorithms, push, createdAt });
}

/** What a subscription is found by, beside event types: its workspaces, all of them, or the one run that it pushes. */
export function listensTo({ workspaces, push }: Subscription): readonly string[] {
  if (push !== undefined) return [pushKey(push)];
  return workspaces === 'all' ? ['*'] : workspaces;
}

/** No workspace has a colon in its name. */
export function pushKey({ runId }: { readonly runId: string }): string {
  return `run:${runId}`;
}

/** `sealed_secret`, `secret_fingerprint`, and the three columns of the previous one. */
export function secretColumns({ sealedSecret, secretFingerprint, previousSecret }: SubscriptionSecrets) {
  const { sealed = null, replacedAt = null, expiresAt = null } = previousSecret ?? {};
  return [Buffer.from(sealedSecret), secretFingerprint, sealed && Buffer.from(sealed), replacedAt, expiresAt] as const;
}

export function subscriptionOf(row: Row): Subscription {
  const document: Document = JSON.parse(text(row, 'document'));
  return {
    ...document,
    signatureAlgorithms: document.signatureAlgorithms ?? ['v1'],
    webhookId: text(row, 'webhook_id'),
    tenant: text(row, 'tenant'),
    mode: text(row, 'mode') === 'test' ? 'test' : 'live',
    status: statusOf(text(row, 'status')),
    circuit: JSON.parse(text(row, 'circuit')),
    failures: JSON.parse(text(row, 'failures')),
    sealedSecret: bytes(row, 'sealed_secret'),
    secretFingerprint: text(row, 'secret_fingerprint'),
    previousSecret: previousOf(row),
  };
}

function previousOf(row: Row): PreviousSecret | undefined {
  if (row.previous_sealed_secret === null) return undefined;
  return {
    sealed: bytes(row, 'previous_sealed_secret'),
    replacedAt: integer(row, 'previous_replaced_at'),
    expiresAt: integer(row, 'previous_expires_at'),
  };
}

/** What this version does not know is delivered to no more, rather than by guess. */
function statusOf(value: string): Subscription['status'] {
  return value === 'active' || value === 'paused' || value === 'dead-lettered' ? value : 'failed';
}
