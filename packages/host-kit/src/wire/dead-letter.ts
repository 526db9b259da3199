import type { Major } from '@svc/versioning';
import { bindId } from '@svc/versioning/ids';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { DeadLetter, DeadLetterCursor } from '../ports/deliveries.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import { isWhole, partsOfCursor, textOfCursor } from './cursor.ts';

/** A dead letter in the form of a major, with the event type as it was sent and without the body of the delivery. */
export const deadLetterBody: Readonly<Record<Major, (letter: DeadLetter, subscription: Subscription) => JsonObject>> = {
  1: (letter) => bodyOf(letter, (id) => id),
  2: (letter, { tenant }) => bodyOf(letter, (id) => bindId(tenant, id)),
};

function bodyOf(letter: DeadLetter, named: (id: string) => string): JsonObject {
  const { deliveryId, webhookId, runId, eventId, eventType, attempts, deadLetteredAt, expiresAt, lastStatus } = letter;
  return {
    deliveryId: named(deliveryId),
    webhookId: named(webhookId),
    runId: named(runId),
    eventId,
    eventType,
    attempts,
    deadLetteredAt: new Date(deadLetteredAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    reason: 'retries_exhausted',
    ...(lastStatus !== undefined && { lastStatus }),
  };
}

const LETTER = {
  deliveryId: z.string(),
  webhookId: z.string(),
  runId: z.string(),
  eventId: z.string(),
  eventType: z.string(),
  attempts: z.int().min(0),
  deadLetteredAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  reason: z.enum(['retries_exhausted', 'payload_unprojectable']),
  lastStatus: z.int().optional().describe('The last HTTP status of the receiver. Absent when it never responded.'),
};

/** The schema of a page of dead letters. */
export const deadLetterPage: Readonly<Record<Major, z.ZodType>> = {
  1: pageOf(z.object(LETTER)),
  2: pageOf(z.strictObject(LETTER)),
};

function pageOf(letter: z.ZodType): z.ZodType {
  const deliveries = z.array(letter.meta({ id: 'DeadLetter' }));
  return z.strictObject({ deliveries, nextCursor: z.string().optional() }).meta({ id: 'DeadLetterPage' });
}

/** The opaque cursor of the next page. It is valid for this subscription only. */
export function cursorText(webhookId: string, { deadLetteredAt, deliveryId }: DeadLetterCursor): string {
  return textOfCursor([webhookId, deadLetteredAt, deliveryId]);
}

/** Reads a cursor. Undefined unless `cursorText` made it for this subscription. */
export function parseCursor(text: string, webhookId: string): DeadLetterCursor | undefined {
  const [owner, deadLetteredAt, deliveryId] = partsOfCursor(text);
  const isOurs = owner === webhookId && isWhole(deadLetteredAt) && typeof deliveryId === 'string';
  return isOurs ? { deadLetteredAt, deliveryId } : undefined;
}
