import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../json.ts';
import type { QueueMessage } from '../../ports/queues.ts';
import type { QueueSource } from '../../ports/triggers.ts';
import { identityAt } from '../identity.ts';
import type { IncomingMessage } from '../receive.ts';

/** The document that a mapping reads: the content as `body`, and facts of the host. */
export function queueDocument(
  body: Json,
  { deliveryId, receivedAt }: { readonly deliveryId: string; readonly receivedAt: number },
): JsonObject {
  return { id: deliveryId, source: 'queue', receivedAt: new Date(receivedAt).toISOString(), body };
}

export interface ReadQueueOptions {
  /** In bytes. */
  readonly maxBytes: number;
  /** Parses JSON in UTF-8. Throws when the content is none, or is nested too deeply. */
  readonly parse: (body: Uint8Array) => Json;
}

/**
 * Reads a message of a queue. One that can start no run has a `problem` instead of a document. Its key is the value that the trigger
 * names, or the id of the message. Without both, two messages with one content could not be told from two deliveries of one: such a
 * message has a problem, too.
 */
export function readQueueMessage(
  { connection, name, dedupPointer }: QueueSource,
  { id, body }: QueueMessage,
  { maxBytes, parse }: ReadQueueOptions,
): Omit<IncomingMessage, 'deliveryId'> {
  const keyed = (...parts: readonly string[]) => digestOf(['svc:queue', connection, name, ...parts]);
  const own = id === undefined ? keyed('content', digestOf([Buffer.from(body).toString('base64')])) : keyed('id', id);
  if (body.byteLength > maxBytes) return { dedupKey: own, problem: `message: has more than ${maxBytes} bytes` };
  let content: Json;
  try {
    content = parse(body);
  } catch {
    return { dedupKey: own, problem: 'message: is not JSON in UTF-8, or is nested too deeply' };
  }
  const named = identityAt(content, dedupPointer);
  if (id === undefined && named === undefined)
    return { dedupKey: own, problem: 'message: has no id. Send it with one, or name a dedupPointer' };
  return {
    dedupKey: named === undefined ? own : keyed('named', named),
    document: (facts) => queueDocument(content, facts),
  };
}

function digestOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
