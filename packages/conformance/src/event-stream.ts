import type { IncomingMessage } from 'node:http';
import type { Answer } from './http/answer.ts';
import { type Frame, framesOf } from './http/frames.ts';
import { unanswered } from './http/send.ts';
import { Mismatch } from './mismatch.ts';

/** An open stream of a run's events. */
export interface EventStream {
  readonly answer: Answer;
  /**
   * Reads until `until` is true of all that was read, or the stream ends. Without `until` it reads to the end.
   *
   * @throws {Mismatch} when the connection breaks
   */
  read(until?: (seen: StreamSeen) => boolean): Promise<StreamSeen>;
  close(): void;
}

/** Frames and comments that were read so far. */
export interface StreamSeen {
  readonly frames: readonly Frame[];
  readonly comments: number;
  /** True when the host has ended the stream. */
  readonly ended: boolean;
}

/** Reads the events of a response. `saw` is called with each message. */
export function eventStream(message: IncomingMessage, answer: Answer, saw: (frame: Frame) => void): EventStream {
  const source = framesOf(message);
  const frames: Frame[] = [];
  const seen = { frames, comments: 0, ended: false };
  return {
    answer,
    async read(until = () => false) {
      while (!seen.ended && !until(seen)) {
        const next = await source.next().catch((error: unknown) => {
          throw new Mismatch('the stream to continue or to be closed by the host', unanswered(error), answer);
        });
        if (next.done === true) seen.ended = true;
        else if ('comment' in next.value) seen.comments += 1;
        else {
          frames.push(next.value);
          saw(next.value);
        }
      }
      return seen;
    },
    close: () => message.destroy(),
  };
}
