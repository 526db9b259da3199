import type { Major } from '@svc/versioning';
import { bindId } from '@svc/versioning/ids';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { AttemptRecord } from '../ports/attempts.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { ShownAnswer } from '../webhooks/capture.ts';
import { eventTimeOf } from '../webhooks/delivery-id.ts';
import type { DeliveryCursor, FoundDelivery } from '../webhooks/find-deliveries.ts';
import { isWhole, partsOfCursor, textOfCursor } from './cursor.ts';
import { attemptView, operatorAttempt } from './operator.ts';

const TIME = z.iso.datetime();

/** The schema of a delivery. */
const ownedDelivery: z.ZodObject = z
  .object({
    deliveryId: z.string(),
    dedupKey: z.string().describe('Equal for every attempt to deliver one event to one subscription.'),
    webhookId: z.string(),
    runId: z.string(),
    sequence: z.int().min(0),
    eventType: z.string(),
    state: z.enum(['waiting', 'dead-lettered', 'delivered', 'failed', 'skipped']),
    attempts: z.int().min(0),
    lastStatus: z.int().optional().describe('The last HTTP status of the receiver. Absent: it did not answer.'),
    createdAt: TIME.optional().describe('The time of the event.'),
    nextAttemptAt: TIME.optional(),
    deadLetteredAt: TIME.optional(),
    expiresAt: TIME.optional().describe('The time from which the dead letter is deleted.'),
    endedAt: TIME.optional().describe('The end of the last attempt.'),
  })
  .meta({ id: 'OwnedDelivery' });

/** The schema of a page of deliveries. */
export const ownedDeliveryPage: z.ZodType = z
  .object({ deliveries: z.array(ownedDelivery), nextCursor: z.string().optional() })
  .meta({ id: 'OwnedDeliveryPage' });

const answeredAttempt = operatorAttempt
  .extend({
    answer: z
      .object({
        headers: z.record(z.string(), z.string()),
        body: z.string().describe('The beginning of the body as text, without known secrets. The receiver chose it.'),
        isCut: z.boolean().describe('Whether the body was longer.'),
      })
      .optional()
      .describe('The answer of the failing receiver. Absent unless the host captures answers.'),
  })
  .meta({ id: 'AnsweredAttempt' });

/** The schema of a delivery with its attempts. */
export const ownedDeliveryDetails: z.ZodType = ownedDelivery
  .extend({ lastAttempts: z.array(answeredAttempt).describe('Its last attempts, newest first.') })
  .meta({ id: 'OwnedDeliveryDetails' });

/** The schema of the response to a resend. */
export const resent: z.ZodType = z
  .object({ queued: z.boolean().describe('False: the delivery waits for an attempt already.') })
  .meta({ id: 'Resent' });

type Owned = Pick<Subscription, 'tenant' | 'major'>;

/** Spells an id in the form of the major that a subscription was registered under. */
export function idIn({ tenant, major }: Owned, id: string): string {
  return SPELLED[major](tenant, id);
}

const SPELLED: Readonly<Record<Major, (tenant: string, id: string) => string>> = {
  1: (_tenant, id) => id,
  2: bindId,
};

/** A delivery for the owner of its subscription, without body, headers and secret. */
export function deliveryView(subscription: Owned, delivery: FoundDelivery): JsonObject {
  const { deliveryId, webhookId, runId, sequence, eventType, attempts, lastStatus } = delivery;
  const createdAt = eventTimeOf(deliveryId);
  return {
    deliveryId: idIn(subscription, deliveryId),
    // A delivery that is sent again has the same id, so it is also the key by which a receiver deduplicates.
    dedupKey: deliveryId,
    webhookId: idIn(subscription, webhookId),
    runId: idIn(subscription, runId),
    sequence,
    eventType,
    state: delivery.state === 'dead' ? 'dead-lettered' : delivery.state,
    attempts,
    ...(lastStatus !== undefined && { lastStatus }),
    ...(createdAt !== undefined && { createdAt: timeText(createdAt) }),
    ...timesOf(delivery),
  };
}

/** A delivery with its attempts, newest first. */
export function deliveryDetail(
  subscription: Owned,
  { delivery, attempts }: { readonly delivery: FoundDelivery; readonly attempts: readonly AttemptRecord[] },
  answers: readonly AnswerTo[] = [],
): JsonObject {
  const views = attempts.map((attempt) => {
    const found = answers.find((each) => each.attempt === attempt.attempt && each.at === attempt.at);
    const view = { ...attemptView(attempt), ...spelledIds(subscription, attempt) };
    // Only of an attempt with a status: the reason of any other one would tell about the network.
    return found === undefined || attempt.status === undefined ? view : { ...view, answer: answerView(found.shown) };
  });
  return { ...deliveryView(subscription, delivery), lastAttempts: views };
}

function answerView({ headers, body, isCut }: ShownAnswer): JsonObject {
  return { headers: { ...headers }, body, isCut };
}

/** The answer to one attempt of a delivery. */
export interface AnswerTo extends Pick<AttemptRecord, 'attempt' | 'at'> {
  readonly shown: ShownAnswer;
}

/** The outcome of a test delivery. */
export function testView(subscription: Owned, attempt: AttemptRecord): JsonObject {
  return { ...attemptView(attempt), ...spelledIds(subscription, attempt) };
}

/** The opaque cursor of the next page. It is valid for this subscription only. */
export function deliveryCursorText(webhookId: string, cursor: DeliveryCursor): string {
  return textOfCursor([webhookId, cursor.section, ...keyOf(cursor)]);
}

/** Reads a cursor. Undefined unless `deliveryCursorText` made it for this subscription. */
export function parseDeliveryCursor(text: string, webhookId: string): DeliveryCursor | undefined {
  const [owner, section, time, key] = partsOfCursor(text);
  if (owner !== webhookId) return undefined;
  if (time === undefined) return isSection(section) ? { section } : undefined;
  if (!isWhole(time)) return undefined;
  if (section === 'waiting' && isWhole(key)) return { section, after: { dueAt: time, position: key } };
  if (typeof key !== 'string') return undefined;
  if (section === 'dead') return { section, after: { deadLetteredAt: time, deliveryId: key } };
  return section === 'ended' ? { section, after: { endedAt: time, deliveryId: key } } : undefined;
}

function isSection(value: unknown): value is DeliveryCursor['section'] {
  return value === 'waiting' || value === 'dead' || value === 'ended';
}

function keyOf({ section, after }: DeliveryCursor): readonly (string | number)[] {
  if (after === undefined) return [];
  if (section === 'waiting') return [after.dueAt, after.position];
  return section === 'dead' ? [after.deadLetteredAt, after.deliveryId] : [after.endedAt, after.deliveryId];
}

function spelledIds(subscription: Owned, { deliveryId, runId }: AttemptRecord): JsonObject {
  return { deliveryId: idIn(subscription, deliveryId), runId: idIn(subscription, runId) };
}

function timesOf(delivery: FoundDelivery): JsonObject {
  if (delivery.state === 'waiting') return { nextAttemptAt: timeText(delivery.dueAt) };
  if (delivery.state !== 'dead') return { endedAt: timeText(delivery.endedAt) };
  return { deadLetteredAt: timeText(delivery.deadLetteredAt), expiresAt: timeText(delivery.expiresAt) };
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
