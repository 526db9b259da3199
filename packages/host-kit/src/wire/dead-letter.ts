import type { Major } from '@svc/versioning';
import { bindId } from '@svc/versioning/ids';
import type { JsonObject } from '../json.ts';
import type { DeadLetter, DeadLetterCursor } from '../webhooks/delivery.ts';
import type { Subscription } from '../webhooks/subscription.ts';

/** A dead letter as a major shows it: ids in its form, the event type as it was sent, and nothing of the delivery itself. */
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

/** Where the next page begins, in a form that nobody needs to understand. It is good for its own subscription. */
export function cursorText(webhookId: string, { deadLetteredAt, deliveryId }: DeadLetterCursor): string {
  return Buffer.from(JSON.stringify([webhookId, deadLetteredAt, deliveryId])).toString('base64url');
}

/** Undefined for what is no cursor of this subscription. */
export function parseCursor(text: string, webhookId: string): DeadLetterCursor | undefined {
  if (text.length > 2048 || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const [owner, deadLetteredAt, deliveryId] = Array.isArray(parsed) ? parsed : [];
    const isOurs = owner === webhookId && Number.isSafeInteger(deadLetteredAt) && typeof deliveryId === 'string';
    return isOurs ? { deadLetteredAt, deliveryId } : undefined;
  } catch {
    return undefined;
  }
}
