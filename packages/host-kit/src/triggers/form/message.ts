import type { Json, JsonObject } from '../../json.ts';

/** The document that a mapping reads: the fields of the form as `body`, and facts of the host. */
export function formDocument(
  body: Json,
  { deliveryId, receivedAt }: { readonly deliveryId: string; readonly receivedAt: number },
): JsonObject {
  return { id: deliveryId, source: 'form', receivedAt: new Date(receivedAt).toISOString(), body };
}
