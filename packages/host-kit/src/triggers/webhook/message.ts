import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../json.ts';
import type { WebhookSource } from '../../ports/triggers.ts';
import { identityAt } from '../identity.ts';
import type { AuthenticWebhook } from './presets.ts';

/** The document that a mapping reads: the body, and facts that the host has verified or measured. */
export function webhookDocument(
  { body, type }: { readonly body: Json; readonly type: string | undefined },
  { deliveryId, receivedAt }: { readonly deliveryId: string; readonly receivedAt: number },
): JsonObject {
  return {
    id: deliveryId,
    source: 'webhook',
    ...(type !== undefined && { type }),
    receivedAt: new Date(receivedAt).toISOString(),
    body,
  };
}

/** Returns whether a message of this type starts a run. */
export function isOfTypes({ types }: WebhookSource, type: string | undefined): boolean {
  return types === undefined || (type !== undefined && types.includes(type));
}

/** The key for deduplication as it is stored: a digest of the value that the trigger names, or of the key of the preset. */
export function storedDedupKey(
  { dedupPointer, preset }: WebhookSource,
  { body, key }: Extract<AuthenticWebhook, { kind: 'message' }>,
): string {
  const named = identityAt(body, dedupPointer);
  const parts = named === undefined ? [preset, ...key] : ['named', named];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
