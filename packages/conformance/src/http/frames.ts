import type { IncomingMessage } from 'node:http';

/** One event of a stream. @see WHATWG HTML, section 9.2 */
export interface Frame {
  readonly id: string | undefined;
  /** Type of the event; `message` when the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** Reads frames and comments until the stream ends. A frame without its final empty line is dropped. */
export async function* framesOf(message: IncomingMessage): AsyncGenerator<Frame | { readonly comment: string }> {
  let id: string | undefined;
  let event = '';
  let data: string[] = [];
  for await (const line of linesOf(message)) {
    if (line === '') {
      if (data.length > 0) yield { id, event: event === '' ? 'message' : event, data: data.join('\n') };
      [event, data] = ['', []];
      continue;
    }
    if (line.startsWith(':')) {
      yield { comment: line.slice(1) };
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }
}

async function* linesOf(message: IncomingMessage): AsyncGenerator<string> {
  const utf8 = new TextDecoder();
  let rest = '';
  for await (const chunk of message) {
    rest += utf8.decode(chunk, { stream: true });
    if (rest.length > MAX_LINE) throw new Error(`a line of the stream is longer than ${MAX_LINE} characters`);
    // A carriage return at the end of a chunk may be the first half of a CRLF.
    const end = rest.endsWith('\r') ? rest.length - 1 : rest.length;
    const lines = rest.slice(0, end).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? '') + rest.slice(end);
    yield* lines;
  }
}

const MAX_LINE = 4 * 1024 * 1024;
