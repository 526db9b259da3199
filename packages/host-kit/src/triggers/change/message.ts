import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../json.ts';
import type { ChangedRow } from '../../ports/changes.ts';
import type { PlacedMessage } from '../reading/take.ts';

/** The document that a mapping reads: the columns as `body`, and facts of the host. */
export function changeDocument(
  body: Json,
  { deliveryId, receivedAt }: { readonly deliveryId: string; readonly receivedAt: number },
): JsonObject {
  return { id: deliveryId, source: 'change', receivedAt: new Date(receivedAt).toISOString(), body };
}

/** Makes the message of a row. Its place identifies it: a row whose cursor rises is another message. */
export function changeMessage(table: string, { cursor, row }: ChangedRow, maxBytes: number): PlacedMessage {
  const dedupKey = createHash('sha256')
    .update(JSON.stringify(['svc:change', table, cursor]))
    .digest('base64url');
  if (row === undefined) return { dedupKey, cursor, problem: `message: has more than ${maxBytes} bytes` };
  return { dedupKey, cursor, document: (facts) => changeDocument(row, facts) };
}
