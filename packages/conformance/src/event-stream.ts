import type { IncomingMessage } from 'node:http';
import type { Answer } from './http/answer.ts';
import { type Frame, framesOf } from './http/frames.ts';
import { unanswered } from './http/send.ts';
import { Mismatch } from './mismatch.ts';

/** A stream of a run's events, while it is open. */
export interface EventStream {
  readonly answer: Answer;
  /** Reads on until `until` is fulfilled by what was read so far, or the stream ends. */
  read(until?: (seen: StreamSeen) => boolean): Promise<StreamSeen>;
  close(): void;
}

export interface StreamSeen {
  readonly frames: readonly Frame[];
  readonly comments: number;
  /** Whether the host ended it. */
  readonly ended: boolean;
}

export function eventStream(message: IncomingMessage, answer: Answer): EventStream {
  const source = framesOf(message);
  const frames: Frame[] = [];
  const seen = { frames, comments: 0, ended: false };
  return {
    answer,
    async read(until = () => false) {
      while (!seen.ended && !until(seen)) {
        const next = await source.next().catch((error: unknown) => {
          throw new Mismatch('the stream to go on, or to end in order', unanswered(error), answer);
        });
        if (next.done === true) seen.ended = true;
        else if ('comment' in next.value) seen.comments += 1;
        else frames.push(next.value);
      }
      return seen;
    },
    close: () => message.destroy(),
  };
}
