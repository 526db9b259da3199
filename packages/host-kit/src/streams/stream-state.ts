/**
 * How a stream ended: `ended` with its run, `left` by its reader, `stalled` because its reader took nothing for too
 * long, `refused` because the credential no longer permits it, `host-stopping`, or `failed` by a fault of the host.
 */
export type StreamOutcome = 'ended' | 'left' | 'stalled' | 'refused' | 'host-stopping' | 'failed';

/** The state of a stream. */
export type StreamState =
  | {
      readonly kind: 'open';
      /** The part that is sent next: the first keep-alive, then the run as it stood at the cursor, then events. */
      readonly part: 'greeting' | 'beginning' | 'events';
      /** The host stops: the stream sends its held batch, and ends. */
      readonly isLeaving: boolean;
    }
  | { readonly kind: 'over'; readonly outcome: StreamOutcome };

/** A change of a stream's state: a part is sent, the host asks the stream to leave, or the stream ends. */
export type StreamSignal = 'part-sent' | 'leave' | { readonly outcome: StreamOutcome };

export const OPENED: StreamState = { kind: 'open', part: 'greeting', isLeaving: false };

/** Returns the state after a signal. The first outcome counts. */
export function streamStateAfter(state: StreamState, signal: StreamSignal): StreamState {
  if (state.kind === 'over') return state;
  if (signal === 'leave') return { ...state, isLeaving: true };
  if (signal === 'part-sent') return { ...state, part: state.part === 'greeting' ? 'beginning' : 'events' };
  return { kind: 'over', outcome: signal.outcome };
}
