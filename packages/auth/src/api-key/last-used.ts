import { type OptionNames, requireKnown } from '../known-options.ts';
import { tell } from '../tell.ts';

/** Options of `trackLastUsed`. */
export interface LastUsedOptions {
  /** Stores the last use of each key, in milliseconds since the epoch. A later call may contain the same key again. */
  readonly write: (lastUsed: ReadonlyMap<string, number>) => Promise<void>;
  /** Shortest time between two writes, in milliseconds, at least 1. Default 60 000. */
  readonly intervalMs?: number;
  /** Most keys between two writes, at least 1. Uses of further keys are dropped. Default 100 000. */
  readonly maxKeys?: number;
  /**
   * Called with the error of a failed write. The batch is written again at the next interval. Its own errors are ignored.
   * Default: not called.
   */
  readonly onFailure?: (cause: unknown) => void;
}

const LAST_USED_OPTIONS: OptionNames<LastUsedOptions> = {
  write: true,
  intervalMs: true,
  maxKeys: true,
  onFailure: true,
};

/** Records the last use of keys. */
export interface LastUsed {
  /** Records a use, without waiting. Pass it as `onUsed` of `apiKeyLane`. */
  readonly note: (keyId: string, time: number) => void;
  /** Writes the recorded uses now. */
  flush(): Promise<void>;
  /** Writes the recorded uses for the last time. Later uses are dropped. */
  close(): Promise<void>;
}

/**
 * Tracks the last use of keys, with one write per interval for any number of requests.
 *
 * @throws {TypeError} when `intervalMs` or `maxKeys` is less than 1
 * @example
 * const lastUsed = trackLastUsed({ write: (times) => store.setLastUsed(times) });
 * const lane = apiKeyLane({ keys, onUsed: lastUsed.note });
 */
export function trackLastUsed(options: LastUsedOptions): LastUsed {
  requireKnown('trackLastUsed', options, LAST_USED_OPTIONS);
  const { write, intervalMs = 60_000, maxKeys = 100_000, onFailure } = options;
  if (!(intervalMs >= 1) || !(maxKeys >= 1)) {
    throw new TypeError('trackLastUsed: intervalMs and maxKeys must be at least 1.');
  }
  let noted = new Map<string, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let closed = false;

  return {
    note(keyId, time) {
      if (closed || (noted.size >= maxKeys && !noted.has(keyId))) return;
      noted.set(keyId, time);
      timer ??= setTimeout(() => void flush(), intervalMs);
    },
    flush,
    async close() {
      closed = true;
      await flush();
    },
  };

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(writeNoted);
    return writing;
  }

  async function writeNoted(): Promise<void> {
    if (noted.size === 0) return;
    const batch = noted;
    noted = new Map();
    try {
      await write(batch);
    } catch (cause) {
      // Uses since the failed write are newer, so they replace those of the batch.
      noted = new Map([...new Map([...batch, ...noted])].slice(0, maxKeys));
      if (!closed) timer ??= setTimeout(() => void flush(), intervalMs);
      tell(onFailure, cause);
    }
  }
}
