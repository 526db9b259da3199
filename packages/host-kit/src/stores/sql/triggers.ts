import type { Trigger, TriggerMessage } from '../../ports/triggers.ts';
import { bytes, integer, optional, type Row, text } from './row.ts';

/** Returns the values of `trigger_id`, `tenant`, `workspace`, `mode`, `state`, `sealed_secrets`, `document`, `next_fire_at`, `queue_connection` and `read_source`. */
export function triggerColumns(trigger: Trigger) {
  const { triggerId, tenant, workspace, mode, state, sealedSecrets, ...document } = trigger;
  const nextFireAt = trigger.source === 'schedule' ? (trigger.next?.fireAt ?? null) : null;
  const connection = trigger.source === 'queue' ? trigger.queue.connection : null;
  const reads = trigger.source === 'stream' || trigger.source === 'change' ? trigger.source : null;
  const rules = JSON.stringify(document);
  const owner = [triggerId, tenant, workspace ?? null, mode, state] as const;
  return [...owner, sealedSecrets, rules, nextFireAt, connection, reads] as const;
}

export function triggerOf(row: Row): Trigger {
  const workspace = optional(row, 'workspace', text);
  return {
    ...JSON.parse(text(row, 'document')),
    triggerId: text(row, 'trigger_id'),
    tenant: text(row, 'tenant'),
    ...(workspace !== undefined && { workspace }),
    mode: text(row, 'mode'),
    state: text(row, 'state'),
    sealedSecrets: bytes(row, 'sealed_secrets'),
  };
}

/** Returns the values of all columns of `trigger_messages`, in their order. */
export function messageColumns(message: TriggerMessage) {
  const content = message.document === undefined ? null : JSON.stringify(message.document);
  return [message.triggerId, message.dedupKey, message.deliveryId, ...changingColumns(message), content] as const;
}

/** The columns of a message in a page: all but its document. */
export const LISTED_COLUMNS =
  'trigger_id, dedup_key, delivery_id, outcome, attempts, received_at, updated_at, expires_at, next_attempt_at, run_id, problem, NULL AS document';

/** Returns the values of the columns that change: `outcome` to `problem`. */
export function changingColumns(message: TriggerMessage) {
  const { outcome, attempts, receivedAt, updatedAt, expiresAt, nextAttemptAt, runId, problem } = message;
  const times = [
    receivedAt,
    updatedAt,
    expiresAt,
    nextAttemptAt === undefined ? null : Math.ceil(nextAttemptAt),
  ] as const;
  return [outcome, attempts, ...times, runId ?? null, problem ?? null] as const;
}

export function messageOf(row: Row): TriggerMessage {
  const nextAttemptAt = optional(row, 'next_attempt_at', integer);
  const runId = optional(row, 'run_id', text);
  const problem = optional(row, 'problem', text);
  const document = optional(row, 'document', text);
  return {
    triggerId: text(row, 'trigger_id'),
    dedupKey: text(row, 'dedup_key'),
    deliveryId: text(row, 'delivery_id'),
    outcome: outcomeOf(text(row, 'outcome')),
    attempts: integer(row, 'attempts'),
    receivedAt: integer(row, 'received_at'),
    updatedAt: integer(row, 'updated_at'),
    expiresAt: integer(row, 'expires_at'),
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
    ...(runId !== undefined && { runId }),
    ...(problem !== undefined && { problem }),
    ...(document !== undefined && { document: JSON.parse(document) }),
  };
}

function outcomeOf(stored: string): TriggerMessage['outcome'] {
  return stored === 'delivered' || stored === 'retrying' ? stored : 'dead-lettered';
}
