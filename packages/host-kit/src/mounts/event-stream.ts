import { AuthError } from '@svc/auth';
import { HostError } from '../errors.ts';
import { EVENT_STREAM_HEADERS, KEEP_ALIVE } from '../http/event-stream.ts';
import type { Reply } from '../http/route.ts';
import { type Clock, within } from '../ports/clock.ts';
import { describeError, type Log } from '../ports/log.ts';

/** The parts of an event stream of a mount. */
export interface EventStreamOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the caller disconnects. */
  readonly gone: AbortSignal;
  /** Makes the last message of a stream whose messages end with an error, in the protocol of the mount. */
  readonly failed: (error: unknown) => string;
}

/**
 * Answers with messages as an event stream, at the pace of its reader. The first message is awaited before the answer
 * is made, so a request that is refused never gets a stream. A stream that fails later ends with the message of
 * `failed` and a log record. It sends a comment after every 15 s without a message, because a proxy would close an idle
 * connection. It is cut off when its reader takes nothing for 30 s.
 *
 * Rejects with the error of the first message.
 */
export async function eventStreamReply(
  messages: AsyncGenerator<string, void, undefined>,
  options: EventStreamOptions,
): Promise<Reply> {
  const first = await messages.next();
  const body = new MessageStream(messages, first, options).body;
  return { status: 200, headers: EVENT_STREAM_HEADERS, body };
}

type Step = IteratorResult<string, void>;

class MessageStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #messages: AsyncGenerator<string, void, undefined>;
  readonly #options: EventStreamOptions;
  /** The message that is awaited or waits to be sent. */
  #next: Promise<Step> | undefined;
  /** The reader has left, or was cut off. */
  #isLeft = false;
  /** Cancels the timer that cuts off a reader that takes nothing. */
  #cancelStall = (): void => {};

  constructor(messages: AsyncGenerator<string, void, undefined>, first: Step, options: EventStreamOptions) {
    this.#messages = messages;
    this.#options = options;
    this.#next = Promise.resolve(first);
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => this.#cutWhenStalled(controller),
        pull: (controller) => this.#pull(controller),
        cancel: () => this.#leave(),
      },
      { highWaterMark: 0 },
    );
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { clock, gone } = this.#options;
    this.#cancelStall();
    this.#next ??= this.#messages.next();
    try {
      const isThere = await within(clock, KEEP_ALIVE_MS, this.#next);
      // Nothing can be sent to a reader that left while the message was awaited.
      if (this.#isLeft) return;
      if (!isThere) return this.#send(controller, KEEP_ALIVE);
      const { done, value } = await this.#next;
      this.#next = undefined;
      if (done === true || gone.aborted) return controller.close();
      this.#send(controller, encoder.encode(value));
    } catch (error) {
      if (!this.#isLeft) this.#fail(controller, error);
    }
  }

  #send(controller: ReadableStreamDefaultController<Uint8Array>, bytes: Uint8Array): void {
    controller.enqueue(bytes);
    this.#cutWhenStalled(controller);
  }

  /** The reader was promised a stream, so it is told of the error in the stream. */
  #fail(controller: ReadableStreamDefaultController<Uint8Array>, error: unknown): void {
    const { log, failed } = this.#options;
    log({ event: 'mount.stream-failed', ...about(error) });
    controller.enqueue(encoder.encode(failed(error)));
    controller.close();
  }

  #cutWhenStalled(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { clock, log } = this.#options;
    this.#cancelStall = clock.after(STALL_MS, () => {
      log({ level: 'info', event: 'mount.stream-stalled' });
      controller.error(new Error('The stream was cut off: its reader took nothing for too long.'));
      this.#leave();
    });
  }

  /** Ends the work behind the messages. It waits for nothing, because a message may be awaited for long. */
  #leave(): void {
    this.#isLeft = true;
    this.#cancelStall();
    this.#next?.catch(() => {});
    this.#messages.return().catch(() => {});
  }
}

/** A refusal, such as that of a host that stops, is no fault of the host. */
function about(error: unknown) {
  if (HostError.is(error) || AuthError.is(error)) return { level: 'info', code: error.code } as const;
  return { level: 'warn', ...describeError(error) } as const;
}

const KEEP_ALIVE_MS = 15_000;
const STALL_MS = 30_000;
const encoder = new TextEncoder();
