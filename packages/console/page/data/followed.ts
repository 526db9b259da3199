import { useEffect, useRef, useState } from 'preact/hooks';
import { openStream } from './api.ts';
import { failure } from './polled.ts';
import { type Message, MessageParser } from './sse.ts';

/** The state of a stream: it is being opened, it is open, it will be opened again, or nothing more will follow. */
export type StreamState = 'connecting' | 'live' | 'waiting' | 'ended';

/**
 * Follows an event stream while the component is shown, and continues after the last message when it breaks.
 *
 * @param path undefined: nothing is followed
 */
export function useFollowed(path: string | undefined, onMessages: (messages: readonly Message[]) => void): StreamState {
  const [state, setState] = useState<StreamState>('connecting');
  const latest = useRef(onMessages);
  latest.current = onMessages;
  useEffect(() => {
    if (path === undefined) return undefined;
    const left = new AbortController();
    void follow(path, left.signal, setState, (messages) => latest.current(messages));
    return () => left.abort();
  }, [path]);
  return state;
}

async function follow(
  path: string,
  left: AbortSignal,
  setState: (state: StreamState) => void,
  take: (messages: readonly Message[]) => void,
): Promise<void> {
  let lastId: string | undefined;
  let waitMs = FIRST_WAIT_MS;
  while (!left.aborted) {
    setState('connecting');
    try {
      const response = await openStream(path, lastId, left);
      if (response.status === 204) return setState('ended');
      setState('live');
      for await (const messages of messagesOf(response)) {
        waitMs = FIRST_WAIT_MS;
        lastId = messages.at(-1)?.id ?? lastId;
        take(messages);
      }
    } catch (error) {
      if (left.aborted) return;
      const { status } = failure(error);
      // A refusal that another attempt would not change.
      if (status >= 400 && status < 500 && status !== 429) return setState('ended');
    }
    setState('waiting');
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

async function* messagesOf(response: Response): AsyncGenerator<readonly Message[]> {
  const parser = new MessageParser();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    const messages = parser.take(piece.value);
    if (messages.length > 0) yield messages;
  }
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
