import type {
  PreviousSecret,
  Subscription,
  SubscriptionSecrets,
  SubscriptionState,
} from '../../ports/subscriptions.ts';
import { type RecordReader, readRecord } from '../passed-over.ts';
import { bytes, integer, optional, type Row, text } from './row.ts';

type Document = Omit<
  Subscription,
  | 'webhookId'
  | 'tenant'
  | 'mode'
  | 'status'
  | 'circuit'
  | 'failures'
  | 'outage'
  | 'sealedSecret'
  | 'secretFingerprint'
  | 'previousSecret'
  | 'signatureAlgorithms'
> &
  // Documents from before there was a second algorithm do not have the field.
  Partial<Pick<Subscription, 'signatureAlgorithms'>>;

/** Returns the `document` column of a subscription: the fields as JSON that no attempt changes. */
export function documentOf(subscription: Subscription): string {
  const { workspaces, major, url, events, tags, description, durable, signatureAlgorithms, push } = subscription;
  const { createdAt } = subscription;
  const fields = { workspaces, major, url, events, tags, description, durable, signatureAlgorithms, push, createdAt };
  return JSON.stringify(fields);
}

/**
 * Returns the lookup keys of a subscription: `*` for all workspaces, the names of its workspaces, or the key of the run
 * that it pushes.
 */
export function listensTo({ workspaces, push }: Subscription): readonly string[] {
  if (push !== undefined) return [pushKey(push)];
  return workspaces === 'all' ? ['*'] : workspaces;
}

/**
 * Returns the lookup key of push subscriptions of a run. The name of a workspace has no colon, so they cannot collide.
 */
export function pushKey({ runId }: { readonly runId: string }): string {
  return `run:${runId}`;
}

/** Returns the values of `sealed_secret`, `secret_fingerprint` and the three `previous_` columns. */
export function secretColumns({ sealedSecret, secretFingerprint, previousSecret }: SubscriptionSecrets) {
  const { sealed = null, replacedAt = null, expiresAt = null } = previousSecret ?? {};
  return [Buffer.from(sealedSecret), secretFingerprint, sealed && Buffer.from(sealed), replacedAt, expiresAt] as const;
}

/** Returns the values of `status`, `circuit`, `failures` and `outage`. */
export function stateColumns({ status, circuit, failures, outage }: SubscriptionState) {
  const ongoing = outage === undefined ? null : JSON.stringify(outage);
  return [status, JSON.stringify(circuit), JSON.stringify(failures), ongoing] as const;
}

/** Reads the rows of subscriptions. */
export const SUBSCRIPTIONS: RecordReader<Row, Subscription> = {
  kind: 'subscription',
  idOf: (row) => text(row, 'webhook_id'),
  read: parsed,
};

/** @throws {UnreadableRecord} when the row cannot be read */
export function subscriptionOf(row: Row): Subscription {
  return readRecord(SUBSCRIPTIONS, row);
}

function parsed(row: Row): Subscription {
  const document = documentIn(row);
  const outage = optional(row, 'outage', text);
  return {
    ...document,
    signatureAlgorithms: document.signatureAlgorithms ?? ['v1'],
    webhookId: text(row, 'webhook_id'),
    tenant: text(row, 'tenant'),
    mode: text(row, 'mode') === 'test' ? 'test' : 'live',
    status: statusOf(text(row, 'status')),
    circuit: JSON.parse(text(row, 'circuit')),
    failures: JSON.parse(text(row, 'failures')),
    ...(outage !== undefined && { outage: JSON.parse(outage) }),
    sealedSecret: bytes(row, 'sealed_secret'),
    secretFingerprint: text(row, 'secret_fingerprint'),
    previousSecret: previousOf(row),
  };
}

/** Reads the fields by which events are matched and sent. A subscription without them must not be asked. */
function documentIn(row: Row): Document {
  const document: Document = JSON.parse(text(row, 'document'));
  const { workspaces, major, url, events, tags, durable } = document;
  const isWhole =
    (workspaces === 'all' || areTexts(workspaces)) &&
    [1, 2].includes(major) &&
    typeof url === 'string' &&
    typeof durable === 'boolean' &&
    areTexts(events) &&
    areTexts(tags);
  if (!isWhole) throw new Error('Column document: the stored value has an unexpected form.');
  return document;
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function previousOf(row: Row): PreviousSecret | undefined {
  if (row.previous_sealed_secret === null) return undefined;
  return {
    sealed: bytes(row, 'previous_sealed_secret'),
    replacedAt: integer(row, 'previous_replaced_at'),
    expiresAt: integer(row, 'previous_expires_at'),
  };
}

/**
 * Reads a status. An unknown one becomes `failed`: delivering to a subscription that a newer version has stopped would
 * be wrong.
 */
function statusOf(value: string): Subscription['status'] {
  return value === 'active' || value === 'paused' || value === 'dead-lettered' ? value : 'failed';
}
