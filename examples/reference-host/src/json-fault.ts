/** A fault of a JSON text, with the place at which it was found. */
export interface JsonFault {
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in UTF-16 units. */
  readonly column: number;
  /** `<fault>. <remedy>.`, without a text of the file, which may be a secret. */
  readonly message: string;
}

/**
 * Finds the first fault of a JSON text: of its syntax, or a key that an object has twice. `JSON.parse` says for a part of the
 * faults only where they are, quotes the text, and takes the last of two equal keys without a word.
 */
export function jsonFault(text: string): JsonFault | undefined {
  const scanner = new Scanner(text);
  try {
    scanner.document();
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const before = text.slice(0, error.at).split('\n');
    return { line: before.length, column: (before.at(-1) ?? '').length + 1, message: error.message };
  }
}

class Fault extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

class Scanner {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#value();
    this.#space();
    if (this.#at < this.#text.length) this.#fail('text follows the end of the value. Remove it.');
  }

  #value(): void {
    this.#space();
    const next = this.#text[this.#at];
    if (next === '{') this.#within(() => this.#members('}', () => this.#member(new Set())));
    else if (next === '[') this.#within(() => this.#members(']', () => () => this.#value()));
    else if (next === '"') this.#string();
    else if (this.#take(LITERAL) === undefined) {
      this.#fail(
        'a value is expected. Write a string in double quotes, a number, true, false, null, a list or an object.',
      );
    }
  }

  #within(read: () => void): void {
    if (++this.#depth > MOST_LEVELS) this.#fail(`more than ${MOST_LEVELS} levels are nested. Nest fewer.`);
    this.#at++;
    read();
    this.#depth--;
  }

  /** Reads what stands between the brackets, separated by commas, and the closing bracket. */
  #members(close: '}' | ']', reader: () => () => void): void {
    const read = reader();
    for (let isFirst = true; ; isFirst = false) {
      this.#space();
      if (this.#text[this.#at] === close) {
        if (!isFirst) this.#fail(`a comma stands before ${close}. Remove the comma.`);
        break;
      }
      read();
      this.#space();
      const next = this.#text[this.#at];
      if (next === close) break;
      if (next !== ',') this.#fail(`a comma or ${close} is expected. Add it.`);
      this.#at++;
    }
    this.#at++;
  }

  #member(names: Set<string>): () => void {
    return () => {
      const start = this.#at;
      if (this.#text[start] !== '"') this.#fail('a key is expected. Write it in double quotes.');
      const name: string = JSON.parse(this.#string());
      if (names.has(name)) this.#fail('the object has this key twice. Remove one of them.', start);
      names.add(name);
      this.#space();
      if (this.#text[this.#at] !== ':') this.#fail('a colon is expected after the key. Add it.');
      this.#at++;
      this.#value();
    };
  }

  #string(): string {
    const start = this.#at;
    const found = this.#take(STRING);
    if (found === undefined) this.#fail('the string does not end in its line. Close it with a double quote.');
    try {
      JSON.parse(found);
      return found;
    } catch {
      this.#fail('the string has a control character or an unknown escape. Write \\\\ for a backslash.', start);
    }
  }

  #space(): void {
    this.#take(SPACE);
    if (this.#text[this.#at] === '/') this.#fail('JSON has no comments. Remove this one.');
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #fail(message: string, at = this.#at): never {
    throw new Fault(at, at >= this.#text.length ? `the text ends early: ${message}` : message);
  }
}

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\r\n]|\\.)*"/y;
const LITERAL = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_.+-])/y;
/** Deeper than any configuration, and shallow enough for the stack. */
const MOST_LEVELS = 100;
