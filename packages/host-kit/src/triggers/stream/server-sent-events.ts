import { LineReader } from './lines.ts';

/** An event as the server dispatched it. */
export interface ServerSentEvent {
  readonly kind: 'event';
  /** `message` unless the event names another one. */
  readonly type: string;
  /** Empty when it is too large. */
  readonly data: string;
  /** Whether the data have more than `maxBytes` bytes. */
  readonly isTooLarge: boolean;
  /** The id after the event, which resumes the stream behind it. Empty: none. An event without an own id has that of the one before. */
  readonly lastEventId: string;
  /** Whether the event has an id of its own, which is not empty. */
  readonly hasId: boolean;
}

/** A part of an event stream: an event, a block that moved the last id without an event, or the pause before the next connection. */
export type StreamPart =
  | ServerSentEvent
  | { readonly kind: 'id'; readonly lastEventId: string }
  | { readonly kind: 'retry' /** In ms. */; readonly ms: number };

/**
 * Parses an event stream as a browser does, from chunks of bytes. An event that the end of the stream cuts off is dropped.
 *
 * @see HTML, section 9.2.6: Interpreting an event stream
 */
export class ServerSentEventParser {
  readonly #maxBytes: number;
  readonly #lines: LineReader;
  #data: string[] = [];
  #dataBytes = 0;
  #isTooLarge = false;
  #type = '';
  #lastEventId: string;
  #idBuffer: string;
  #hasId = false;
  /** The lines that were read, comments and blank ones included. */
  linesRead = 0;

  /** @param lastEventId the id of the event after which the stream was resumed; empty: none */
  constructor({ maxBytes, lastEventId }: { readonly maxBytes: number; readonly lastEventId: string }) {
    this.#maxBytes = maxBytes;
    // The name of the field and the space take up to 6 bytes.
    this.#lines = new LineReader({ maxBytes: maxBytes + 6, endsAtCr: true });
    this.#lastEventId = lastEventId;
    this.#idBuffer = lastEventId;
  }

  /** Returns the parts that end in the chunk. */
  *read(chunk: Uint8Array): Generator<StreamPart, void, undefined> {
    for (const { bytes, isTooLong } of this.#lines.read(chunk)) {
      this.linesRead += 1;
      const part = bytes.length === 0 ? this.#dispatch() : this.#field(utf8.decode(bytes), isTooLong);
      if (part !== undefined) yield part;
    }
  }

  #field(line: string, isTooLong: boolean): StreamPart | undefined {
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const name = colon === -1 ? line : line.slice(0, colon);
    const rest = colon === -1 ? '' : line.slice(colon + 1);
    const value = rest.startsWith(' ') ? rest.slice(1) : rest;
    if (name === 'data') this.#addData(value, isTooLong);
    // A part of a type or of an id would be another one.
    else if (isTooLong) this.#isTooLarge ||= name === 'id' || name === 'event';
    else if (name === 'event') this.#type = value;
    else if (name === 'id' && !value.includes('\0')) {
      this.#idBuffer = value;
      this.#hasId = value !== '';
    } else if (name === 'retry' && /^[0-9]+$/.test(value)) return { kind: 'retry', ms: Number(value) };
    return undefined;
  }

  #addData(value: string, isTooLong: boolean): void {
    // With the line feed that joins it to the next one.
    this.#dataBytes += Buffer.byteLength(value) + 1;
    if (isTooLong || this.#dataBytes - 1 > this.#maxBytes) this.#isTooLarge = true;
    if (this.#isTooLarge) this.#data = [''];
    else this.#data.push(value);
  }

  #dispatch(): StreamPart | undefined {
    const moved = this.#idBuffer !== this.#lastEventId;
    this.#lastEventId = this.#idBuffer;
    const [lastEventId, isTooLarge, hasId, type] = [this.#lastEventId, this.#isTooLarge, this.#hasId, this.#type];
    const data = isTooLarge ? [''] : this.#data;
    this.#data = [];
    this.#dataBytes = 0;
    this.#isTooLarge = false;
    this.#type = '';
    this.#hasId = false;
    if (data.length === 0) return moved ? { kind: 'id', lastEventId } : undefined;
    return { kind: 'event', type: type || 'message', data: data.join('\n'), isTooLarge, lastEventId, hasId };
  }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
