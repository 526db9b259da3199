import { type Clock, yieldToLoop } from '../ports/clock.ts';
import { describeError, type Log } from '../ports/log.ts';
import type { Run } from '../ports/runs.ts';
import { cursor } from './cursor.ts';
import type { Followers } from './follow.ts';
import type { Page, Pages, View } from './pages.ts';
import type { ReaderLimiter } from './reader-limits.ts';
import { newTimer } from './timer.ts';

/** What every stream of a host is made of. */
export interface StreamParts {
  readonly pages: Pages;
  readonly followers: Followers;
  readonly readerLimiter: ReaderLimiter;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: StreamLimits;
  /** Told of the end of every stream. */
  readonly closed: (outcome: StreamOutcome) => void;
}

/** In milliseconds. */
export interface StreamLimits {
  /** A stream that has nothing to say says so this often. */
  readonly keepAliveMs: number;
  /** How often the credential of a reader is judged again. */
  readonly judgeEveryMs: number;
  /** How long a reader may leave untaken what it was sent. */
  readonly stallMs: number;
}

/** What one reader asked for. */
export interface StreamRequest {
  /** As the caller has just read it. */
  readonly run: Run;
  readonly credentialId: string;
  /** Events with a higher sequence are shown; -1 for all. */
  readonly after: number;
  readonly view: View;
  /** Asked once, when the stream is read. */
  readonly begin: (isOver: () => boolean) => Promise<Beginning>;
  /** What is sent at first, and when there has been nothing else for a while. */
  readonly keepAlive: Uint8Array;
  readonly batch: Batch | undefined;
  /** When the credential expires, in ms since the epoch. */
  readonly expiresAt: number;
  /** The run as it stands now; undefined when it cannot be read any more. */
  readonly current: () => Promise<Run | undefined>;
  /** Whether the caller would be let in now. */
  readonly judgeAgain: () => Promise<boolean>;
}

/** Where a stream begins. */
export interface Beginning {
  /** The run as it stood at `after`, as far as the view asks for it. */
  readonly run: Run;
  /** What is shown of it; empty for nothing. */
  readonly bytes: Uint8Array;
}

/** For readers who would rather have fewer, larger pieces. */
export interface Batch {
  /** How long events may be held back. */
  readonly ms: number;
  /** Makes one piece of what pages were rendered to. */
  join(parts: readonly Uint8Array[], last: number): Uint8Array;
}

/**
 * The log of a run as a stream: what is there, then what is appended, until the run has ended. It is read as its reader takes it, so
 * that a slow one costs no more than a fast one. One that takes nothing for a while is given up, and one whose credential no longer
 * holds is not served on.
 *
 * @throws {AuthError} `rate_limited` when there is no place for one more reader
 * @throws {HostError} `service_unavailable` when the host is stopping
 */
export function openStream(parts: StreamParts, request: StreamRequest): ReadableStream<Uint8Array> {
  const { clock, log, limits } = parts;
  const { keepAlive, batch } = request;
  let step: 'opened' | 'greeted' | 'begun' = 'opened';
  let isLeaving = false;
  let outcome: StreamOutcome | undefined;
  let sentAt = clock.now();
  let judgeAt = sentAt + limits.judgeEveryMs;
  /** When a piece was handed out, until the next one is asked for. */
  let untakenSince: number | undefined = sentAt;
  let held = nothingHeld();
  let goOn = (): void => {};
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  const { credentialId, run } = request;
  const giveBack = parts.readerLimiter.take({ runId: run.runId, credentialId }, () => {
    isLeaving = true;
    // A reader who is not asking cannot be told.
    if (untakenSince === undefined) goOn();
    else finish('host-stopping');
  });
  const reading = cursor({ ...parts, ...request, grown: () => goOn() });
  const timer = newTimer(clock, ring);
  timer.ringBy(untakenSince + limits.stallMs);

  return new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
      async pull() {
        untakenSince = undefined;
        const piece = await next().catch(failed);
        if (outcome !== undefined) return;
        if (piece === undefined) return finish(isLeaving ? 'host-stopping' : 'ended');
        sentAt = clock.now();
        untakenSince = sentAt;
        timer.ringBy(untakenSince + limits.stallMs);
        controller?.enqueue(piece);
      },
      cancel: () => finish('left'),
    },
    { highWaterMark: 0 },
  );

  /** The next piece; undefined when there is none any more. */
  async function next(): Promise<Uint8Array | undefined> {
    if (step === 'opened') {
      step = 'greeted';
      return keepAlive;
    }
    if (step === 'greeted') {
      step = 'begun';
      const beginning = await request.begin(() => outcome !== undefined);
      reading.start(beginning.run);
      if (beginning.bytes.length > 0) return beginning.bytes;
    }
    for (;;) {
      if (outcome !== undefined || !(await isWelcome())) return undefined;
      const now = clock.now();
      if (isBatchDue(now)) return flush();
      if (reading.hasEnded() || isLeaving) return undefined;
      const isQuiet = now - sentAt >= limits.keepAliveMs;
      if (!isQuiet && !reading.hasNews()) {
        await news();
        continue;
      }
      const page = await reading.next();
      if (page !== undefined && page.bytes.length > 0) {
        if (batch === undefined) return page.bytes;
        hold(page);
      }
      if (isQuiet) return keepAlive;
      // A long log of which nothing is shown must not keep everybody else waiting.
      await yieldToLoop();
    }
  }

  async function isWelcome(): Promise<boolean> {
    const now = clock.now();
    if (now < request.expiresAt) {
      if (now < judgeAt) return true;
      judgeAt = now + limits.judgeEveryMs;
      if (await request.judgeAgain()) return true;
    }
    finish('refused');
    return false;
  }

  function hold({ bytes, shown, isUrgent }: Page): void {
    if (held.parts.length === 0) held.since = clock.now();
    held.parts.push(bytes);
    held.bytes += bytes.length;
    held.last = shown ?? held.last;
    held.isUrgent ||= isUrgent;
  }

  function isBatchDue(now: number): boolean {
    if (batch === undefined || held.parts.length === 0) return false;
    const mustGo = held.isUrgent || reading.hasEnded() || isLeaving;
    return mustGo || held.bytes >= LARGEST_BATCH_BYTES || now >= held.since + batch.ms;
  }

  function flush(): Uint8Array | undefined {
    const { parts: rendered, last } = held;
    held = nothingHeld();
    return batch?.join(rendered, last);
  }

  /** Resolves when there may be something to do. */
  function news(): Promise<void> {
    const batchDue = batch === undefined || held.parts.length === 0 ? Number.POSITIVE_INFINITY : held.since + batch.ms;
    timer.ringBy(Math.min(request.expiresAt, judgeAt, batchDue, sentAt + limits.keepAliveMs));
    return new Promise((resolve) => {
      goOn = resolve;
    });
  }

  function ring(): void {
    if (untakenSince === undefined) goOn();
    // It may have been set for a piece that was taken long ago.
    else if (clock.now() >= untakenSince + limits.stallMs) finish('stalled');
    else timer.ringBy(untakenSince + limits.stallMs);
  }

  function failed(error: unknown): undefined {
    // What a store says of a read that its closing cut off is no news.
    if (outcome === undefined) log({ level: 'error', event: 'stream.failed', ...describeError(error) });
    finish('failed');
  }

  function finish(how: StreamOutcome): void {
    if (outcome !== undefined) return;
    outcome = how;
    timer.cancel();
    reading.close();
    giveBack();
    goOn();
    parts.closed(how);
    log({ level: 'info', event: 'stream.closed', keyId: credentialId, tenant: run.tenant, outcome: how });
    if (how === 'stalled' || how === 'failed') controller?.error(new Error(`The stream was given up: ${how}.`));
    else if (how !== 'left') controller?.close();
  }
}

/**
 * How a stream ended: with its run, by its reader's leaving or not taking anything, because the credential no longer holds, because the
 * host stops, or by a failure of the host.
 */
export type StreamOutcome = 'ended' | 'left' | 'stalled' | 'refused' | 'host-stopping' | 'failed';

function nothingHeld() {
  const parts: Uint8Array[] = [];
  return { parts, bytes: 0, last: -1, since: 0, isUrgent: false };
}

const LARGEST_BATCH_BYTES = 65_536;
