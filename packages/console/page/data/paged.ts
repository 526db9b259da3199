import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from './api.ts';
import { failure } from './polled.ts';

/** One page of a keyset list. */
export interface Page<R> {
  readonly rows: readonly R[];
  /** Undefined: it is the last one. */
  readonly next: string | undefined;
}

/** A list that grows page by page. */
export interface Paged<R> {
  readonly rows: readonly R[];
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  readonly error: ApiError | undefined;
  readonly more: () => void;
  /** Reads the first page again, and shows it when it is there. */
  readonly reload: () => void;
}

/** Reads the first page whenever `key` changes, and a further one at each call of `more`. */
export function usePaged<R>(key: string, load: (cursor: string | undefined) => Promise<Page<R>>): Paged<R> {
  const [state, setState] = useState<State<R>>(EMPTY);
  const latest = useRef(load);
  latest.current = load;
  const turn = useRef(0);
  const read = (cursor: string | undefined, before: readonly R[]) => {
    turn.current += 1;
    const mine = turn.current;
    setState((old) => ({ ...old, isLoading: true, error: undefined }));
    latest.current(cursor).then(
      ({ rows, next }) => {
        if (mine === turn.current) setState({ rows: [...before, ...rows], next, isLoading: false, error: undefined });
      },
      (error: unknown) => {
        if (mine === turn.current) setState((old) => ({ ...old, isLoading: false, error: failure(error) }));
      },
    );
  };
  // A new key alone begins a new list.
  useEffect(() => {
    setState(EMPTY);
    read(undefined, []);
    return () => {
      turn.current += 1;
    };
  }, [key]);
  return {
    rows: state.rows,
    isLoading: state.isLoading,
    hasMore: state.next !== undefined,
    error: state.error,
    more: () => read(state.next, state.rows),
    reload: () => read(undefined, []),
  };
}

interface State<R> {
  readonly rows: readonly R[];
  readonly next: string | undefined;
  readonly isLoading: boolean;
  readonly error: ApiError | undefined;
}

const EMPTY: State<never> = { rows: [], next: undefined, isLoading: true, error: undefined };
