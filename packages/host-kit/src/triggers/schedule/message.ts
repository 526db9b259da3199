import { createHash } from 'node:crypto';
import type { JsonObject } from '../../json.ts';

/** The document that a mapping reads: the time that the expression names, and facts of the host. */
export function scheduleDocument(
  scheduledAt: number,
  { deliveryId, receivedAt }: { readonly deliveryId: string; readonly receivedAt: number },
): JsonObject {
  return {
    id: deliveryId,
    source: 'schedule',
    scheduledAt: new Date(scheduledAt).toISOString(),
    receivedAt: new Date(receivedAt).toISOString(),
  };
}

/** The key for deduplication of an occurrence: of all hosts and restarts, one starts its run. */
export function occurrenceKey(triggerId: string, scheduledAt: number): string {
  return createHash('sha256')
    .update(JSON.stringify(['schedule', triggerId, scheduledAt]))
    .digest('base64url');
}
