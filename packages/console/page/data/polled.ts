import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api.ts';

/** Data that is read again and again, with its age. */
export interface Polled<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  /** The time of the data, in ms since the epoch. */
  readonly at: number | undefined;
  /** Reads now. Resolves when the data is there. */
  readonly refresh: () => Promise<void>;
}

/**
 * Reads data when the component appears, whenever `key` changes, and then every `everyMs` while the page is visible. After
 * an error the old data stays, and the next read follows as usual.
 *
 * @param everyMs 0: only once
 */
export function usePolled<T>(key: string, everyMs: number, load: () => Promise<T>): Polled<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: ApiError; at?: number }>({ key });
  const latest = useRef(load);
  latest.current = load;
  const current = useRef(key);
  current.current = key;
  const refresh = useCallback(async () => {
    const asked = current.current;
    const next = await latest.current().then(
      (data) => ({ key: asked, data, at: Date.now() }),
      (error: unknown) => ({ key: asked, error: failure(error) }),
    );
    // The answer for a place that the user has left.
    if (current.current !== asked) return;
    setState((old) => ('error' in next && old.key === asked ? { ...old, error: next.error } : next));
  }, []);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const turn = async () => {
      if (document.visibilityState === 'visible') await refresh();
      if (!isOver && everyMs > 0) timer = setTimeout(() => void turn(), everyMs);
    };
    void turn();
    const onVisible = () => void (document.visibilityState === 'visible' && refresh());
    if (everyMs > 0) document.addEventListener('visibilitychange', onVisible);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [key, everyMs, refresh]);
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    at: isCurrent ? state.at : undefined,
    refresh,
  };
}

/** Returns any error as one that can be shown. */
export function failure(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, 'error', error instanceof Error ? error.message : 'Something went wrong.');
}
