import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../json.ts';
import type { StreamSource } from '../../ports/triggers.ts';
import { identityAt } from '../identity.ts';
import type { PlacedMessage } from '../reading/take.ts';
import type { ServerSentEvent } from './server-sent-events.ts';

/** The facts of a message that its document has beside the content. */
export interface StreamFacts {
  readonly deliveryId: string;
  readonly receivedAt: number;
  /** The type of an event. Undefined: a line of JSON has none. */
  readonly type: string | undefined;
  /** The id of an event that has one. */
  readonly eventId?: string | undefined;
}

/** The document that a mapping reads: the content as `body`, and facts of the event and of the host. */
export function streamDocument(body: Json, { deliveryId, receivedAt, type, eventId }: StreamFacts): JsonObject {
  return {
    id: deliveryId,
    source: 'stream',
    ...(type !== undefined && { type }),
    ...(eventId !== undefined && { eventId }),
    receivedAt: new Date(receivedAt).toISOString(),
    body,
  };
}

export interface ReadStreamOptions {
  /** In bytes. */
  readonly maxBytes: number;
  /** Parses JSON in UTF-8. Throws when the content is none, or is nested too deeply. */
  readonly parse: (body: Uint8Array) => Json;
}

/**
 * Reads an event. Its identity is the value that the trigger names, or its own id. The id that it shares with an earlier event is not
 * its identity. An event without one could not be told from its repetition after a lost connection: it has a problem.
 */
export function readEvent(source: StreamSource, event: ServerSentEvent, options: ReadStreamOptions): PlacedMessage {
  const { data, type, lastEventId, hasId, isTooLarge } = event;
  if (!isCursor(lastEventId)) return { ...refused(['id', lastEventId], UNSENDABLE), cursor: undefined };
  const cursor = lastEventId;
  const own = hasId ? (['id', lastEventId] as const) : undefined;
  if (isTooLarge) return { ...refused(own ?? ['after', lastEventId], tooLarge(options)), cursor };
  const facts = { type, eventId: hasId ? lastEventId : undefined };
  const { message } = readContent(source, Buffer.from(data), own, facts, options);
  return { ...message, cursor };
}

/** Reads a line of JSON. Its identity is the value that the trigger names, or its cursor. */
export function readLine(
  source: StreamSource,
  { bytes, isTooLong }: { readonly bytes: Uint8Array; readonly isTooLong: boolean },
  options: ReadStreamOptions,
): PlacedMessage {
  if (isTooLong) return { ...refused(['content', digestOf([latin1(bytes)])], tooLarge(options)), cursor: undefined };
  const { message, content } = readContent(source, bytes, undefined, { type: undefined }, options);
  if (content === undefined || source.cursorPointer === undefined) return { ...message, cursor: undefined };
  const named = identityAt(content, source.cursorPointer);
  if (named !== undefined && isCursor(named)) return { ...message, cursor: named };
  const { dedupKey } = message;
  return { dedupKey, problem: 'message: has no cursor at cursorPointer that can be sent', cursor: undefined };
}

/** Whether a server gets the cursor back as it sent it: in a header, up to 1024 bytes. */
export function isCursor(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a header cannot have.
  return Buffer.byteLength(text) <= 1024 && !/[\u0000-\u001f\u007f]/.test(text);
}

const UNSENDABLE = 'message: its id has more than 1024 bytes, or control characters';

function tooLarge({ maxBytes }: Pick<ReadStreamOptions, 'maxBytes'>): string {
  return `message: has more than ${maxBytes} bytes`;
}

function refused(key: readonly string[], problem: string): Pick<PlacedMessage, 'dedupKey' | 'problem'> {
  return { dedupKey: digestOf(['svc:stream', ...key]), problem };
}

/** A message before its cursor is known. Without content: it could not be read. */
interface ReadContent {
  readonly message: Omit<PlacedMessage, 'cursor'>;
  readonly content?: Json;
}

function readContent(
  { dedupPointer, cursorPointer }: StreamSource,
  bytes: Uint8Array,
  own: readonly [string, string] | undefined,
  event: Pick<StreamFacts, 'type' | 'eventId'>,
  { maxBytes, parse }: ReadStreamOptions,
): ReadContent {
  const byContent = own ?? (['content', digestOf([latin1(bytes)])] as const);
  if (bytes.byteLength > maxBytes) return { message: refused(byContent, tooLarge({ maxBytes })) };
  let content: Json;
  try {
    content = parse(bytes);
  } catch {
    return { message: refused(byContent, 'message: is not JSON in UTF-8, or is nested too deeply') };
  }
  const pointer = dedupPointer ?? (own === undefined ? cursorPointer : undefined);
  const named = identityAt(content, pointer);
  const key = named === undefined ? own : (['named', named] as const);
  if (key === undefined)
    return { message: refused(byContent, 'message: has no identity. Send it with an id, or name a dedupPointer') };
  const document: PlacedMessage['document'] = (facts) => streamDocument(content, { ...facts, ...event });
  return { content, message: { dedupKey: digestOf(['svc:stream', ...key]), document } };
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function digestOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
