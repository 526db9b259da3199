import { yieldToLoop } from '../ports/clock.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import { type Batch, HeldBatch } from './batch.ts';
import type { Cursor } from './cursor.ts';
import type { Reader, ReaderLimiter } from './reader-limits.ts';
import { OPENED, type StreamOutcome, type StreamState, streamStateAfter } from './stream-state.ts';
import { newTimer, type Timer } from './timer.ts';

/** The parts that all streams of a host share. */
export interface StreamParts extends Pick<HostPorts, 'clock' | 'log'> {
  readonly readerLimiter: ReaderLimiter;
  readonly limits: StreamLimits;
  /** Called once at the end of every stream. */
  readonly closed: (outcome: StreamOutcome) => void;
}

/** Times that hold for every stream, in ms. */
export interface StreamLimits {
  /** A stream that has sent nothing for this long sends a keep-alive comment. At most 30 000. */
  readonly keepAliveMs: number;
  /** How often the credential of a reader is authenticated and authorized again. */
  readonly judgeEveryMs: number;
  /** A stream ends when its reader has taken nothing for this long. */
  readonly stallMs: number;
}

/** The request of one reader. */
export interface StreamRequest {
  readonly reader: Reader;
  readonly tenant: string;
  /** Makes the cursor from which the stream reads. The cursor calls `grown` when there may be a page. */
  readonly cursor: (grown: () => void) => Cursor;
  /** Makes the bytes that are sent first, and whenever the stream has sent nothing for `keepAliveMs`. */
  readonly keepAlive: () => Uint8Array;
  /** Sent last when the host stops before the cursor has ended. */
  readonly comeBack: Uint8Array;
  /** Undefined: every page is sent at once. */
  readonly batch: Batch | undefined;
  /** When the credential expires, in ms since the epoch; infinity for never. */
  readonly expiresAt: number;
  /** Authenticates and authorizes the caller again; false ends the stream. */
  readonly judgeAgain: () => Promise<boolean>;
}

/**
 * Opens a stream of events: the stored ones, then each new one, until the cursor has ended. Pages are read as the
 * reader takes them, so that a slow reader takes no more memory than a fast one. The stream ends early when its
 * reader takes nothing for `stallMs`, when the credential no longer permits it and when the host stops.
 *
 * @throws {AuthError} `rate_limited` when a limit of readers is reached
 * @throws {HostError} `service_unavailable` when the host is stopping
 */
export function openStream(parts: StreamParts, request: StreamRequest): ReadableStream<Uint8Array> {
  return new EventStream(parts, request).body;
}

class EventStream {
  /** The stream as its reader takes it. It holds no piece in advance. */
  readonly body: ReadableStream<Uint8Array>;
  readonly #parts: StreamParts;
  readonly #request: StreamRequest;
  readonly #cursor: Cursor;
  /** Rings at the next time at which there may be something to send or to end. */
  readonly #timer: Timer;
  /** Gives the reader's place back to the limiter. */
  readonly #giveBack: () => void;
  /** Undefined when the reader asked for no batches. */
  readonly #held: HeldBatch | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #state: StreamState = OPENED;
  #hasSaidFarewell = false;
  /** When the last piece was handed out, in ms of the monotonic clock, as all times of a stream but `expiresAt`. */
  #sentAt: number;
  /** When the credential is judged next. */
  #judgeAt: number;
  /** When a piece was handed out that the reader has not taken yet; undefined while the reader waits for one. */
  #untakenSince: number | undefined;
  /** Resolves the wait for news. */
  #wake = (): void => {};

  constructor(parts: StreamParts, request: StreamRequest) {
    const { clock, limits, readerLimiter } = parts;
    const { reader, batch } = request;
    this.#parts = parts;
    this.#request = request;
    this.#sentAt = clock.monotonic();
    this.#judgeAt = this.#sentAt + limits.judgeEveryMs;
    this.#untakenSince = this.#sentAt;
    this.#held = batch && new HeldBatch(batch);
    this.#giveBack = readerLimiter.take(
      reader,
      () => this.#leave(),
      () => this.#judgeNow(),
    );
    this.#cursor = request.cursor(() => this.#wake());
    this.#timer = newTimer(clock, () => this.#ring());
    this.#timer.ringBy(this.#untakenSince + limits.stallMs);
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#end('left'),
      },
      { highWaterMark: 0 },
    );
  }

  async #pull(): Promise<void> {
    const { clock, limits } = this.#parts;
    this.#untakenSince = undefined;
    const piece = await this.#next().catch((error: unknown) => this.#failed(error));
    if (this.#state.kind === 'over') return;
    if (piece === undefined) {
      this.#end(this.#state.isLeaving ? 'host-stopping' : 'ended');
      return;
    }
    this.#sentAt = clock.monotonic();
    this.#untakenSince = this.#sentAt;
    this.#timer.ringBy(this.#untakenSince + limits.stallMs);
    this.#controller?.enqueue(piece);
  }

  /** The next piece; undefined when none will follow. */
  async #next(): Promise<Uint8Array | undefined> {
    const part = this.#state.kind === 'open' ? this.#state.part : undefined;
    if (part !== 'events') this.#state = streamStateAfter(this.#state, 'part-sent');
    if (part === 'greeting') return this.#request.keepAlive();
    if (part === 'beginning') {
      const bytes = await this.#cursor.start(() => this.#state.kind === 'over');
      if (bytes.length > 0) return bytes;
    }
    return await this.#nextEvents();
  }

  async #nextEvents(): Promise<Uint8Array | undefined> {
    const { clock, limits } = this.#parts;
    while (await this.#isWelcome()) {
      const now = clock.monotonic();
      const isLast = this.#cursor.hasEnded() || this.#isLeaving();
      if (this.#held?.isDue(now, isLast)) return this.#held.take();
      if (isLast) return this.#farewell();
      const isQuiet = now - this.#sentAt >= limits.keepAliveMs;
      if (!isQuiet && !this.#cursor.hasNews()) {
        await this.#news();
        continue;
      }
      const page = await this.#cursor.next();
      if (page !== undefined && page.bytes.length > 0) {
        if (this.#held === undefined) return page.bytes;
        this.#held.add(page, clock.monotonic());
      }
      if (isQuiet) return this.#request.keepAlive();
      // Without this a long log of which nothing is shown would block all other requests of the host.
      await yieldToLoop();
    }
    return undefined;
  }

  /** Sent once. A stream that ended with its run has none: its reader must not come back. */
  #farewell(): Uint8Array | undefined {
    if (this.#cursor.hasEnded() || this.#hasSaidFarewell) return undefined;
    this.#hasSaidFarewell = true;
    return this.#request.comeBack;
  }

  /** Whether the stream is open and its credential still permits it. Otherwise the stream is over. */
  async #isWelcome(): Promise<boolean> {
    if (this.#state.kind === 'over') return false;
    const { clock, limits } = this.#parts;
    const now = clock.monotonic();
    if (clock.now() < this.#request.expiresAt) {
      if (now < this.#judgeAt) return true;
      this.#judgeAt = now + limits.judgeEveryMs;
      if (await this.#request.judgeAgain()) return true;
    }
    this.#end('refused');
    return false;
  }

  #isLeaving(): boolean {
    return this.#state.kind === 'open' && this.#state.isLeaving;
  }

  /** Resolves when there may be something to do. */
  #news(): Promise<void> {
    const { clock, limits } = this.#parts;
    const batchDue = this.#held?.dueAt ?? Number.POSITIVE_INFINITY;
    const keepAliveDue = this.#sentAt + limits.keepAliveMs;
    const expiryDue = clock.monotonic() + this.#request.expiresAt - clock.now();
    this.#timer.ringBy(Math.min(expiryDue, this.#judgeAt, batchDue, keepAliveDue));
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #ring(): void {
    const { clock, limits } = this.#parts;
    if (this.#untakenSince === undefined) this.#wake();
    // The timer may have been set for an earlier piece, which the reader has taken.
    else if (clock.monotonic() >= this.#untakenSince + limits.stallMs) this.#end('stalled');
    else this.#timer.ringBy(this.#untakenSince + limits.stallMs);
  }

  /**
   * The host stops. A reader that waits is sent the held batch; one that has not taken its last piece cannot be sent
   * anything.
   */
  #leave(): void {
    this.#state = streamStateAfter(this.#state, 'leave');
    if (this.#untakenSince === undefined) this.#wake();
    else this.#end('host-stopping');
  }

  /** The credential was changed. A reader that has not taken its last piece is judged at once, too. */
  #judgeNow(): void {
    this.#judgeAt = Number.NEGATIVE_INFINITY;
    if (this.#untakenSince === undefined) this.#wake();
    else void this.#isWelcome().catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): undefined {
    // The end of a stream may cut off a read of the store; its rejection is not worth a line in the log.
    if (this.#state.kind === 'open') {
      this.#parts.log({ level: 'error', event: 'stream.failed', ...describeError(error) });
    }
    this.#end('failed');
  }

  #end(outcome: StreamOutcome): void {
    if (this.#state.kind === 'over') return;
    const { log, closed } = this.#parts;
    const { reader, tenant } = this.#request;
    this.#state = streamStateAfter(this.#state, { outcome });
    this.#timer.cancel();
    this.#cursor.close();
    this.#giveBack();
    this.#wake();
    closed(outcome);
    log({ level: 'info', event: 'stream.closed', keyId: reader.credentialId, tenant, outcome });
    if (outcome === 'stalled' || outcome === 'failed') this.#controller?.error(new Error(CUT[outcome]));
    else if (outcome !== 'left') this.#controller?.close();
  }
}

/** The error with which a stream is cut off. */
const CUT = {
  stalled: 'The stream was cut off: its reader took nothing for too long.',
  failed: 'The stream was cut off: the host failed to read the log.',
} as const;
