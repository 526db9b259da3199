import { invalid } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { StreamSource, Trigger } from '../ports/triggers.ts';
import type { CreateRunOptions } from '../runs/create.ts';
import { engineRefusal } from '../runs/engine-refusal.ts';
import { changeDocument } from './change/message.ts';
import { emailDocument } from './email/message.ts';
import { formDocument } from './form/message.ts';
import { mapped } from './mapping.ts';
import { queueDocument } from './queue/message.ts';
import type { TriedMessage } from './receive.ts';
import { scheduleDocument } from './schedule/message.ts';
import { type StandingOptions, standingOfRegistrar } from './standing.ts';
import { refusedAt, type TriggerLimits } from './start.ts';
import { streamDocument } from './stream/message.ts';
import { isOfTypes, webhookDocument } from './webhook/message.ts';

/** The outcome that a message would have. */
export type TriedOutcome =
  | { readonly would: 'start'; readonly workflowId: string; readonly inputs: JsonObject }
  | { readonly would: 'wait'; readonly workflowId: string; readonly inputs: JsonObject }
  | { readonly would: 'ignore' }
  | { readonly would: 'dead-letter'; readonly problem: string };

export interface TryOptions extends StandingOptions, Pick<CreateRunOptions, 'engine'> {
  readonly limits: Pick<TriggerLimits, 'maxInputLength'>;
}

/**
 * Returns the outcome that a message would have now. Stores nothing, starts nothing and records nothing.
 *
 * @throws {HostError} `validation_error` when the message has no body, and its source is not a schedule
 * @throws {Error} when the store fails
 */
export async function tryMessage(options: TryOptions, trigger: Trigger, tried: TriedMessage): Promise<TriedOutcome> {
  const { clock, engine, limits } = options;
  if (!isWanted(trigger, tried.type)) return { would: 'ignore' };
  const isFinal = trigger.state === 'failed' || trigger.state === 'dead-lettered';
  if (isFinal) return { would: 'dead-letter', problem: 'trigger: has failed. Register it again' };
  const standing = await standingOfRegistrar(options, trigger);
  if (!standing.ok) return { would: 'dead-letter', problem: standing.problem };
  const document = documentOf(trigger, tried, clock.now());
  const target = mapped(trigger.mapping, document, limits.maxInputLength);
  if (!target.ok) return { would: 'dead-letter', problem: target.problem };
  const refusal = engineRefusal(engine, target.workflowId, target.inputs);
  if (refusal !== undefined) return { would: 'dead-letter', problem: refusedAt(refusal.field) };
  const { workflowId, inputs } = target;
  return { would: trigger.state === 'paused' ? 'wait' : 'start', workflowId, inputs };
}

/** Whether a message of a type starts a run. */
function isWanted(trigger: Trigger, type: string | undefined): boolean {
  if (trigger.source === 'webhook') return isOfTypes(trigger.webhook, type);
  if (trigger.source !== 'stream') return true;
  const { types } = trigger.stream;
  return types === undefined || types.includes(type ?? 'message');
}

/** The type of an event that names none. Undefined: lines of JSON have none. */
function typeOf({ format }: StreamSource): string | undefined {
  return format === 'sse' ? 'message' : undefined;
}

/** The document of the message. A schedule is tried at its next occurrence, or now when it has none. */
function documentOf(trigger: Trigger, { body, type }: TriedMessage, now: number): JsonObject {
  const facts = { deliveryId: 'dlv_tried', receivedAt: now };
  if (trigger.source === 'schedule') return scheduleDocument(trigger.next?.scheduledAt ?? now, facts);
  if (body === undefined) throw invalid({ field: 'body', problem: 'must be the body of the message' });
  if (trigger.source === 'queue') return queueDocument(body, facts);
  if (trigger.source === 'email') return emailDocument({ body, attachments: [] }, facts);
  if (trigger.source === 'change') return changeDocument(body, facts);
  if (trigger.source === 'stream') return streamDocument(body, { ...facts, type: type ?? typeOf(trigger.stream) });
  return trigger.source === 'form' ? formDocument(body, facts) : webhookDocument({ body, type }, facts);
}
