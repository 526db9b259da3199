/** A line of a stream, without its end. */
export interface Line {
  /** Of a line that is too long, the first bytes. */
  readonly bytes: Uint8Array;
  readonly isTooLong: boolean;
}

export interface LineOptions {
  /** The bytes of a line that are kept. */
  readonly maxBytes: number;
  /** Whether CR ends a line, too: alone, and before LF, with which it is one end. */
  readonly endsAtCr: boolean;
}

/** Splits chunks of bytes into lines, wherever the chunks begin and end. It keeps no more than one line of `maxBytes`. */
export class LineReader {
  readonly #options: LineOptions;
  #parts: Uint8Array[] = [];
  #kept = 0;
  #isTooLong = false;
  /** Whether the last byte was a CR: a LF after it belongs to the same end. */
  #afterCr = false;
  #isFirst = true;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  /** Returns the lines that end in the chunk. */
  *read(chunk: Uint8Array): Generator<Line, void, undefined> {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      const isRestOfEnd = byte === LF && this.#afterCr;
      this.#afterCr = byte === CR && this.#options.endsAtCr;
      if (isRestOfEnd) start = at + 1;
      else if (byte === LF || (byte === CR && this.#options.endsAtCr)) {
        this.#keep(chunk.subarray(start, at));
        start = at + 1;
        yield this.#line();
      }
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(bytes: Uint8Array): void {
    const room = this.#options.maxBytes - this.#kept;
    if (bytes.length > room) this.#isTooLong = true;
    // A copy: a short rest must not keep a whole chunk in memory.
    const part = Uint8Array.from(bytes.subarray(0, Math.max(room, 0)));
    if (part.length > 0) this.#parts.push(part);
    this.#kept += part.length;
  }

  #line(): Line {
    const [first = new Uint8Array(), ...others] = this.#parts;
    const bytes = others.length === 0 ? first : Buffer.concat(this.#parts);
    const line = { bytes: this.#isFirst ? withoutBom(bytes) : bytes, isTooLong: this.#isTooLong };
    this.#isFirst = false;
    this.#parts = [];
    this.#kept = 0;
    this.#isTooLong = false;
    return line;
  }
}

const LF = 0x0a;
const CR = 0x0d;

/** The byte order mark at the beginning of a stream is none of its content. */
function withoutBom(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
