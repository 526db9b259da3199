export interface LastUsedOptions {
  /** Stores when each key was last used, in milliseconds since the epoch; a later call may name a key again. */
  readonly write: (lastUsed: ReadonlyMap<string, number>) => Promise<void>;
  /** How often it writes at the most. Default 60 000. */
  readonly intervalMs?: number;
  /** Keys noted between two writes at the most; uses of more are not noted. Default 100 000. */
  readonly maxKeys?: number;
  /** Told when a write fails; what was to be written is kept for the next one. */
  readonly onFailure?: (cause: unknown) => void;
}

export interface LastUsed {
  /** Notes a use, for `apiKeyLane`'s `onUsed`. It waits for nothing. */
  readonly note: (keyId: string, time: number) => void;
  /** Writes what has been noted, now. */
  flush(): Promise<void>;
  /** Writes for the last time, and ends. */
  close(): Promise<void>;
}

/**
 * Keeps track of when keys were last used with one write an interval, however many requests there are.
 *
 * @throws {TypeError} for an option that cannot be right
 * @example
 * const lastUsed = trackLastUsed({ write: (times) => store.setLastUsed(times) });
 * const lane = apiKeyLane({ keys, now: Date.now, onUsed: lastUsed.note });
 */
export function trackLastUsed(options: LastUsedOptions): LastUsed {
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
      onFailure?.(cause);
      // What was used since is newer.
      noted = new Map([...batch, ...noted]);
      if (!closed) timer ??= setTimeout(() => void flush(), intervalMs);
    }
  }
}
