import type { ReaderLimits } from '../streams/reader-limits.ts';
import type { StreamLimits } from '../streams/stream.ts';

/** Event streams, and polls that wait for events. The defaults are in `STREAM_DEFAULTS`. */
export interface StreamOptions extends StreamLimits {
  /** The most readers at a time. Further ones are answered 429. Default: 500 a run, 500 a credential, 2000 in all. */
  readonly readerLimits: ReaderLimits;
}

/** The defaults of `HttpOptions.streams`. */
export const STREAM_DEFAULTS: StreamOptions = {
  readerLimits: { perRun: 500, perCredential: 500, total: 2000 },
  keepAliveMs: 15_000,
  judgeEveryMs: 30_000,
  stallMs: 30_000,
};

/** The longest permitted `http.streams.keepAliveMs`. */
export const LONGEST_SILENCE_MS = 30_000;
