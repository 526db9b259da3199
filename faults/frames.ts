import { Transform } from 'node:stream';

/** One message of an event stream: its fields in order. A comment has the name `''`. */
export type Frame = readonly (readonly [name: string, value: string])[];

/** Splits the text of a stream into its messages. */
export function framesIn(text: string): readonly Frame[] {
  return text
    .split(/\r?\n\r?\n/)
    .filter((part) => part !== '')
    .map(frameOf);
}

function frameOf(text: string): Frame {
  return text.split(/\r?\n/).map((line) => {
    const colon = line.indexOf(':');
    return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
  });
}

/** Writes messages as the text of a stream. */
export function textOf(frames: readonly Frame[]): string {
  return frames.map((frame) => `${frame.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n`).join('');
}

/** Returns a field of a message. */
export function fieldOf(frame: Frame, name: string): string | undefined {
  return frame.find(([each]) => each === name)?.[1];
}

/** Tells whether a message is an event, and not a comment. */
export function isEvent(frame: Frame): boolean {
  return frame.some(([name]) => name === 'data');
}

/**
 * Changes the messages of an open stream. `change` gets each message with the number of events before it, and returns the
 * messages that are sent in its place; undefined ends the stream.
 */
export function changing(change: (frame: Frame, index: number) => readonly Frame[] | undefined): Transform {
  let rest = '';
  let index = 0;
  let hasEnded = false;
  return new Transform({
    transform(chunk, _encoding, done) {
      rest += String(chunk);
      const parts = rest.split(/\r?\n\r?\n/);
      rest = parts.pop() ?? '';
      for (const part of parts) {
        if (hasEnded) break;
        const frame = frameOf(part);
        const next = change(frame, index);
        if (isEvent(frame)) index += 1;
        if (next === undefined) hasEnded = true;
        else this.push(textOf(next));
      }
      if (hasEnded) this.push(null);
      done();
    },
  });
}
