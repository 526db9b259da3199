import type { Clock } from '../../ports/clock.ts';
import type { TriggerOf } from '../../ports/triggers.ts';
import type { HeldPlace } from '../reading/held-place.ts';
import { type PlacedMessage, taker } from '../reading/take.ts';
import type { StartOptions } from '../start.ts';
import { LineReader } from './lines.ts';
import { isCursor, type ReadStreamOptions, readEvent, readLine } from './message.ts';
import { StreamFault } from './request.ts';
import { ServerSentEventParser } from './server-sent-events.ts';

export interface ReadConnectionOptions extends StartOptions, ReadStreamOptions {
  /** The longest time without a complete line, in ms. */
  readonly idleMs: number;
}

/** An open response. */
export interface OpenStream {
  readonly body: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
  /** Ends the response. Its body then fails. */
  readonly drop: () => void;
  /** Is told of the pause before the next connection that the server wants, in ms. */
  readonly onRetry: (ms: number) => void;
}

/**
 * Takes the messages of a response one after the other, so that runs start in the order of the stream. A message, its run and the cursor
 * behind it are one transaction.
 *
 * @returns `ended` with the response; `inactive` when the trigger is active no more
 * @throws {StreamFault} when the server is silent, or sends too much without a message
 * @throws {HostError} `service_unavailable` when a message could not be taken
 */
export async function readConnection(
  options: ReadConnectionOptions,
  { triggerId, stream }: TriggerOf<'stream'>,
  place: HeldPlace,
  { body, signal, drop, onRetry }: OpenStream,
): Promise<'ended' | 'inactive'> {
  const { maxBytes, clock, idleMs } = options;
  const parser = stream.format === 'sse' ? eventsOf(place.cursor) : linesOf();
  const silence = silenceWatch(clock, idleMs, drop);
  const take = taker(options, 'stream', triggerId, place);
  const passed = passer(options, place);
  let sinceMessage = 0;
  try {
    for await (const chunk of silence.watched(body)) {
      sinceMessage += chunk.length;
      for (const part of parser.read(chunk)) {
        if (signal.aborted) return 'inactive';
        if (part.kind === 'retry') onRetry(part.ms);
        else if (part.kind === 'passed') await passed(part.cursor);
        else {
          sinceMessage = 0;
          if (!(await take(part.message))) return 'inactive';
        }
        silence.end();
      }
      if (parser.hasRead()) silence.end();
      if (sinceMessage > MOST_WITHOUT_MESSAGE * maxBytes)
        throw new StreamFault(`the server sent more than ${MOST_WITHOUT_MESSAGE * maxBytes} bytes without a message`);
    }
    return 'ended';
  } catch (error) {
    throw silence.isBroken() ? new StreamFault('the server was silent for too long') : error;
  } finally {
    silence.end();
  }

  function eventsOf(lastEventId: string): PartReader {
    const events = new ServerSentEventParser({ maxBytes, lastEventId });
    return {
      hasRead: hasMore(() => events.linesRead),
      *read(chunk) {
        for (const part of events.read(chunk)) {
          if (part.kind === 'retry') yield part;
          else if (part.kind === 'id') yield { kind: 'passed', cursor: part.lastEventId };
          else if (stream.types === undefined || stream.types.includes(part.type))
            yield { kind: 'message', message: readEvent(stream, part, options) };
          else {
            options.counted('stream', 'ignored');
            yield { kind: 'passed', cursor: part.lastEventId };
          }
        }
      },
    };
  }

  function linesOf(): PartReader {
    const lines = new LineReader({ maxBytes, endsAtCr: false });
    let read = 0;
    return {
      hasRead: hasMore(() => read),
      *read(chunk) {
        for (const line of lines.read(chunk)) {
          read += 1;
          if (!isBlank(line.bytes)) yield { kind: 'message', message: readLine(stream, line, options) };
        }
      },
    };
  }
}

type Part =
  | { readonly kind: 'message'; readonly message: PlacedMessage }
  | { readonly kind: 'passed'; readonly cursor: string }
  | { readonly kind: 'retry'; readonly ms: number };

interface PartReader {
  readonly read: (chunk: Uint8Array) => Iterable<Part>;
  /** Whether a line was read since the last call: a sign of life, also without a message. */
  readonly hasRead: () => boolean;
}

function hasMore(count: () => number): () => boolean {
  let before = 0;
  return () => {
    const isMore = count() > before;
    before = count();
    return isMore;
  };
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

/** Returns a function that stores the cursor behind events that start no run: now and then, because the next message stores it, too. */
function passer({ clock }: Pick<ReadConnectionOptions, 'clock'>, place: HeldPlace) {
  let savedAt = clock.monotonic();
  return async (cursor: string): Promise<void> => {
    const now = clock.monotonic();
    if (now - savedAt < SAVE_EVERY_MS || !isCursor(cursor) || cursor === place.cursor) return;
    savedAt = now;
    await place.report(place.reading, cursor);
  };
}

const SAVE_EVERY_MS = 5000;

/** Counts the time without a complete line while the host waits for one. */
function silenceWatch(clock: Clock, idleMs: number, drop: () => void) {
  let silentMs = 0;
  let isBroken = false;
  return {
    isBroken: () => isBroken,
    end() {
      silentMs = 0;
    },
    async *watched(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
      const chunks = body[Symbol.asyncIterator]();
      try {
        for (;;) {
          const began = clock.monotonic();
          const cancel = clock.after(idleMs - silentMs, () => {
            isBroken = true;
            drop();
          });
          const { done = false, value } = await chunks.next().finally(cancel);
          silentMs += clock.monotonic() - began;
          if (done) return;
          yield value;
        }
      } finally {
        await chunks.return?.();
      }
    },
  };
}

/** Times `maxBytes`. Endless lines and comments end here. */
const MOST_WITHOUT_MESSAGE = 8;
