/** A message of an event stream. */
export interface Message {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/**
 * Parses an event stream piece by piece, as the HTML standard defines it. A comment yields nothing. A message that grows
 * over 8 MiB ends the stream with an error.
 */
export class MessageParser {
  #rest = '';
  #id: string | undefined;
  #event = '';
  #data: string[] = [];
  #length = 0;

  /** Takes the next piece of the text, and returns the messages that it completes. */
  take(piece: string): Message[] {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MOST) throw new Error('A message of the stream is too long.');
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): Message | undefined {
    if (line === '') return this.#end();
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'id') this.#id = value;
    if (name === 'event') this.#event = value;
    if (name === 'data') {
      this.#data.push(value);
      this.#length += value.length;
      if (this.#length > MOST) throw new Error('A message of the stream is too long.');
    }
    return undefined;
  }

  #end(): Message | undefined {
    const message =
      this.#data.length === 0
        ? undefined
        : { id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') };
    this.#event = '';
    this.#data = [];
    this.#length = 0;
    return message;
  }
}

const MOST = 8 * 1_048_576;
