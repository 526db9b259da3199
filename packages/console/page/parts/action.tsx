import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiError } from '../data/api.ts';
import { failure } from '../data/polled.ts';
import { Text } from './words.tsx';

/** The state of a change: at most one runs at a time, and its error stays until the next one. */
export interface Action {
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  readonly run: (change: () => Promise<unknown>) => Promise<void>;
}

/** Runs changes that the user asks for. */
export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; error?: ApiError }>({ isBusy: false });
  return {
    isBusy: state.isBusy,
    error: state.error,
    async run(change) {
      if (state.isBusy) return;
      setState({ isBusy: true });
      try {
        await change();
        setState({ isBusy: false });
      } catch (error) {
        setState({ isBusy: false, error: failure(error) });
      }
    },
  };
}

/** The error of the last change. */
export function ActionError({ action }: { readonly action: Action }): VNode | null {
  if (action.error === undefined) return null;
  return (
    <p class="field-error" role="alert">
      <Text>{action.error.message}</Text>
    </p>
  );
}
