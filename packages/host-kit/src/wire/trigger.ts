import type { Major } from '@svc/versioning';
import { bindId } from '@svc/versioning/ids';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { SourcePlace } from '../ports/source-places.ts';
import type { Trigger, TriggerMessage } from '../ports/triggers.ts';
import type { RegisteredTrigger } from '../triggers/register.ts';

/** Spells an id in the form of the major under which a trigger was registered. */
function idIn({ tenant, major }: Pick<Trigger, 'tenant' | 'major'>, id: string): string {
  return SPELLED[major](tenant, id);
}

const SPELLED: Readonly<Record<Major, (tenant: string, id: string) => string>> = { 1: (_tenant, id) => id, 2: bindId };

const RECORD = {
  subscriptionId: z.string(),
  source: z.enum(['queue', 'webhook', 'email', 'form', 'stream', 'change', 'schedule']),
  state: z.enum(['active', 'paused', 'failed', 'dead-lettered']),
  dedupEnabled: z.boolean(),
  retryPolicy: z.strictObject({ maxAttempts: z.int().min(1), backoff: z.enum(['none', 'fixed', 'exponential']) }),
  secretFingerprint: z
    .string()
    .max(32)
    .optional()
    .describe('A salted digest of the current secret of a webhook or an email.'),
};

/** The record of the protocol. */
function recordOf(trigger: Trigger) {
  return {
    subscriptionId: idIn(trigger, trigger.triggerId),
    source: trigger.source,
    state: trigger.state,
    dedupEnabled: true,
    retryPolicy: { maxAttempts: trigger.retryPolicy.maxAttempts, backoff: trigger.retryPolicy.backoff },
    ...fingerprintOf(trigger),
  };
}

/** The secret of another source is the host's own, and no sender can compare its fingerprint. */
function fingerprintOf({ source, secretFingerprint }: Trigger): { readonly secretFingerprint?: string } {
  return hasSender(source) ? { secretFingerprint } : {};
}

/** Whether the secret of a source is known to a sender or a relay. */
function hasSender(source: Trigger['source']): boolean {
  return source === 'webhook' || source === 'email';
}

/** The first listed address to which people write. A trigger that lists domains alone has none. */
function addressOf(trigger: Trigger): { readonly ingestAddress?: string } {
  const ingestAddress = trigger.source === 'email' && trigger.email.recipients.find((entry) => !entry.startsWith('@'));
  return typeof ingestAddress === 'string' ? { ingestAddress } : {};
}

/** The schema of the response to a registration. */
export const registeredTrigger: z.ZodType = z
  .strictObject({
    subscription: z.strictObject(RECORD).meta({ id: 'TriggerSubscription' }),
    binding: z.strictObject({
      ingestUrl: z
        .string()
        .optional()
        .describe(
          'The URL to which the sender of a webhook, the page of a form or the relay of an email posts. Other sources have none.',
        ),
      ingestAddress: z.string().optional().describe('The address of an email: the first recipient that is an address.'),
      secretFingerprint: z.string().max(32).optional(),
    }),
    secret: z
      .string()
      .optional()
      .describe(
        'The secret for the sender of a webhook or the relay of an email. Only this response has it. Absent if the request supplied it.',
      ),
  })
  .meta({ id: 'RegisteredTrigger' });

export function registeredTriggerBody(
  { trigger, secret, isSecretBrought }: RegisteredTrigger,
  ingestUrl: string | undefined,
): JsonObject {
  return {
    subscription: recordOf(trigger),
    binding: { ...(ingestUrl !== undefined && { ingestUrl }), ...addressOf(trigger), ...fingerprintOf(trigger) },
    ...(!isSecretBrought && hasSender(trigger.source) && { secret }),
  };
}

const TIME = z.iso.datetime();

/** The schema of the reading of a source. */
const reading = z.object({
  state: z.enum(['connecting', 'reading', 'waiting']).describe('`waiting`: the host connects again after a pause.'),
  changedAt: TIME,
  failures: z.int().min(0).describe('The failures since the last message.'),
  problem: z
    .string()
    .optional()
    .describe('The reason of the last failure. Absent: there was none since the last message.'),
  cursor: z.string().optional().describe('The place after the last durable message.'),
});

/** The schema of a trigger as an operator sees it. */
export const triggerView: z.ZodObject = z
  .object({
    ...RECORD,
    stateReason: z.enum(['operator-paused', 'retry-exhausted', 'source-removed']).optional(),
    mode: z.enum(['live', 'test']),
    tenantId: z.string().optional().describe('The workspace of its runs. Absent: the tenant.'),
    description: z.string().optional(),
    ingestUrl: z.string().optional().describe('For a webhook and a form alone.'),
    mapping: z.record(z.string(), z.unknown()),
    webhook: z.record(z.string(), z.unknown()).optional(),
    schedule: z.record(z.string(), z.unknown()).optional(),
    form: z.record(z.string(), z.unknown()).optional(),
    queue: z.record(z.string(), z.unknown()).optional(),
    email: z.record(z.string(), z.unknown()).optional(),
    stream: z.record(z.string(), z.unknown()).optional(),
    change: z.record(z.string(), z.unknown()).optional(),
    reading: reading.optional().describe('For a stream and a change. Absent until a host has read it.'),
    nextFireAt: TIME.optional().describe('The time at which a schedule fires next. Absent while it starts no runs.'),
    registrar: z.string().describe('The principal under whose authority the runs start.'),
    createdAt: TIME,
    updatedAt: TIME,
  })
  .meta({ id: 'Trigger' });

/** A trigger for its operator, without its secret. @param place of a source that hosts read */
export function triggerBody(
  trigger: Trigger,
  ingestUrl: string | undefined,
  place: SourcePlace | undefined,
): JsonObject {
  const { stateReason, mode, workspace, description: note, mapping: rules, registrar } = trigger;
  return {
    ...recordOf(trigger),
    ...(stateReason !== undefined && { stateReason }),
    mode,
    ...(workspace !== undefined && { tenantId: workspace }),
    ...(note !== undefined && { description: note }),
    ...(ingestUrl !== undefined && { ingestUrl }),
    mapping: JSON.parse(JSON.stringify(rules)),
    ...rulesBody(trigger),
    ...(place !== undefined && { reading: readingBody(place) }),
    registrar: registrar.id,
    createdAt: timeText(trigger.createdAt),
    updatedAt: timeText(trigger.updatedAt),
  };
}

function readingBody({ cursor, reading: { state, changedAt, failures, problem } }: SourcePlace): JsonObject {
  return {
    ...{ state, changedAt: timeText(changedAt), failures },
    ...(problem !== undefined && { problem }),
    ...(cursor !== undefined && { cursor }),
  };
}

function rulesBody(trigger: Trigger): JsonObject {
  const { source } = trigger;
  if (source === 'webhook') return { webhook: JSON.parse(JSON.stringify(trigger.webhook)) };
  if (source === 'form') return { form: JSON.parse(JSON.stringify(trigger.form)) };
  if (source === 'queue') return { queue: JSON.parse(JSON.stringify(trigger.queue)) };
  if (source === 'email') return { email: JSON.parse(JSON.stringify(trigger.email)) };
  if (source === 'change') return { change: { ...trigger.change } };
  if (source === 'stream') return { stream: JSON.parse(JSON.stringify(trigger.stream)) };
  const { schedule, next, state } = trigger;
  const isFiring = next !== undefined && state === 'active';
  return { schedule: { ...schedule }, ...(isFiring && { nextFireAt: timeText(next.fireAt) }) };
}

/** The schema of a page of triggers. */
export const triggerPage: z.ZodType = z
  .object({
    triggers: z.array(triggerView),
    nextAfter: z.string().optional().describe('The `after` of the next page. Absent on the last one.'),
  })
  .meta({ id: 'Triggers' });

/** The schema of a message, without its content. */
const messageView: z.ZodType = z
  .object({
    deliveryId: z.string().describe('The `causationId` of the run.'),
    dedupKey: z.string().describe('A digest of the key by which a repetition is recognised.'),
    outcome: z.enum(['delivered', 'retrying', 'dead-lettered']),
    attempts: z.int().min(0),
    receivedAt: TIME,
    nextAttemptAt: TIME.optional(),
    runId: z.string().optional(),
    problem: z.string().optional().describe('The reason why no run was started.'),
    expiresAt: TIME.describe('The time from which the host does not know the message any more.'),
  })
  .meta({ id: 'TriggerMessage' });

/** The schema of a page of messages. */
export const messagePage: z.ZodType = z
  .object({ messages: z.array(messageView), nextBefore: z.string().optional() })
  .meta({ id: 'TriggerMessages' });

export function messageBody(trigger: Trigger, message: TriggerMessage): JsonObject {
  const { deliveryId, dedupKey, outcome, attempts, receivedAt, nextAttemptAt, runId, problem, expiresAt } = message;
  return {
    deliveryId: idIn(trigger, deliveryId),
    dedupKey,
    outcome,
    attempts,
    receivedAt: timeText(receivedAt),
    ...(nextAttemptAt !== undefined && { nextAttemptAt: timeText(nextAttemptAt) }),
    ...(runId !== undefined && { runId: idIn(trigger, runId) }),
    ...(problem !== undefined && { problem }),
    expiresAt: timeText(expiresAt),
  };
}

const LETTER = {
  subscriptionId: z.string(),
  attemptEventId: z.string().describe('The id of the delivery.'),
  attempt: z.strictObject({
    subscriptionId: z.string(),
    dedupKey: z.string(),
    attempt: z.int().min(0),
    outcome: z.literal('dead-lettered'),
  }),
  reason: z.enum(['verification_failed', 'retries_exhausted']),
  deadLetteredAt: TIME,
  expiresAt: TIME,
};

/** The schema of a page of dead letters. */
export const triggerDeadLetterPage: z.ZodType = z
  .strictObject({
    deliveries: z.array(z.strictObject(LETTER).meta({ id: 'TriggerDeadLetter' })),
    nextCursor: z.string().optional(),
  })
  .meta({ id: 'TriggerDeadLetterPage' });

/** A dead letter in the form of the protocol, without the content of the message. */
export function triggerDeadLetterBody(trigger: Trigger, letter: TriggerMessage): JsonObject {
  const { dedupKey, attempts, deliveryId, updatedAt, expiresAt } = letter;
  const subscriptionId = idIn(trigger, trigger.triggerId);
  return {
    subscriptionId,
    attemptEventId: idIn(trigger, deliveryId),
    attempt: { subscriptionId, dedupKey, attempt: attempts, outcome: 'dead-lettered' },
    reason: 'retries_exhausted',
    deadLetteredAt: timeText(updatedAt),
    expiresAt: timeText(expiresAt),
  };
}

/** The schema of the outcome of a trial. */
export const triedView: z.ZodType = z
  .object({
    would: z.enum(['start', 'wait', 'ignore', 'dead-letter']),
    workflowId: z.string().optional(),
    inputs: z.record(z.string(), z.unknown()).optional(),
    problem: z.string().optional(),
  })
  .meta({ id: 'TriedMessage' });

/** The schema of the response to a rotation. */
export const rotatedTrigger: z.ZodType = z
  .object({
    trigger: triggerView,
    secret: z
      .string()
      .optional()
      .describe('The new secret, unless the request supplied it. Only this response has it.'),
    previousSecretExpiresAt: TIME,
  })
  .meta({ id: 'RotatedTrigger' });

/** The schema of the response to a redrive. */
export const redrivenMessages: z.ZodType = z.object({ redriven: z.int().min(0) }).meta({ id: 'RedrivenMessages' });

/** The schema of the response to a sender. */
export const takenMessage: z.ZodType = z
  .looseObject({
    deliveryId: z.string().optional(),
    outcome: z.enum(['delivered', 'retrying', 'dead-lettered', 'ignored']).optional(),
    repeated: z.boolean().optional(),
    runId: z.string().optional(),
    challenge: z.string().optional(),
  })
  .meta({ id: 'TakenMessage' });

/** The response to a sender. */
export function takenBody(
  trigger: Trigger,
  { deliveryId, outcome, runId }: TriggerMessage,
  repeated: boolean,
): JsonObject {
  return {
    deliveryId: idIn(trigger, deliveryId),
    outcome,
    repeated,
    ...(runId !== undefined && { runId: idIn(trigger, runId) }),
  };
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
