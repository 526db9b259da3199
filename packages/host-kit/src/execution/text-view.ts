/** A text made of another one, in which each character knows its place in the original. */
export interface TextView {
  readonly text: string;
  /** Returns the begin of the character at `index` in the original. */
  from(index: number): number;
  /** Returns the end of the character at `index` in the original. */
  to(index: number): number;
}

/** Returns the original itself as a view. */
export function plainView(text: string): TextView {
  return { text, from: (index) => index, to: (index) => index + 1 };
}

/** Decodes one level of URL encoding, of JavaScript and JSON escapes, and of HTML references. */
export function decodedView(view: TextView): TextView {
  return replaced(view, ESCAPE, decodedEscape);
}

/** Returns the escapes that `decodedView` would decode. */
export function escapesIn(view: TextView): readonly TextView[] {
  return Array.from(view.text.matchAll(ESCAPE), ({ 0: match, index }) => partOf(view, index, index + match.length));
}

const ESCAPE =
  /%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\u\{0{0,4}[0-9a-f]{1,2}\}|\\x[0-9a-f]{2}|\\["'\\/`]|&#x0{0,4}[0-9a-f]{1,2};|&#0{0,4}[0-9]{1,3};|&(?:amp|lt|gt|quot|apos);/gi;

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodedEscape(match: string): string {
  const named = NAMED[match.slice(1, -1).toLowerCase()];
  if (match.startsWith('&') && named !== undefined) return named;
  if (/^\\[^ux]/i.test(match)) return match.slice(1);
  const isDecimal = /^&#[0-9]/.test(match);
  const digits = isDecimal ? match.replace(/[^0-9]/g, '') : match.replace(/^(?:%|\\[ux]\{?|&#x)|[};]$/gi, '');
  return String.fromCharCode(Number.parseInt(digits, isDecimal ? 10 : 16));
}

/** Lower-cases letters, those of ASCII at least, and keeps the length of the text. */
export function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  // A few letters, such as \u0130, become two.
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Lower-cases the letters. */
export function lowerCaseView(view: TextView): TextView {
  return { ...view, text: lowerCase(view.text) };
}

/** Joins the lines of base64, and puts both alphabets into one. */
export function base64View(view: TextView): TextView {
  const joined = replaced(view, /\s+|\\[rn]/g, '');
  return { ...joined, text: joined.text.replaceAll('-', '+').replaceAll('_', '/') };
}

/** Joins hexadecimal digits that are separated by white space, punctuation or prefixes. */
export function hexView(view: TextView): TextView {
  return lowerCaseView(replaced(view, /0x|\\x|[\s:,;-]+/gi, ''));
}

/** Removes every U+0000, which UTF-16 has after each character of ASCII. */
export function withoutNulView(view: TextView): TextView {
  return replaced(view, /\0/g, '');
}

/** Returns the part of a view between two indexes. */
export function partOf(view: TextView, start: number, end: number): TextView {
  return {
    text: view.text.slice(start, end),
    from: (index) => view.from(start + index),
    to: (index) => view.to(start + index),
  };
}

/** Decodes a view of base64 as bytes, each of which is one character. */
export function base64BytesView(view: TextView): TextView {
  return {
    text: Buffer.from(view.text, 'base64').toString('latin1'),
    from: (index) => view.from(Math.floor((index * 8) / 6)),
    to: (index) => view.to(Math.floor((index * 8 + 7) / 6)),
  };
}

/** Decodes a view of hexadecimal digits as bytes, each of which is one character. */
export function hexBytesView(view: TextView): TextView {
  return {
    text: Buffer.from(view.text, 'hex').toString('latin1'),
    from: (index) => view.from(index * 2),
    to: (index) => view.to(index * 2 + 1),
  };
}

type Replacement = '' | ((match: string) => string);

/** Replaces each match by at most one character. */
function replaced(view: TextView, pattern: RegExp, by: Replacement): TextView {
  if (view.text.search(pattern) < 0) return view;
  const text = typeof by === 'string' ? view.text.replace(pattern, by) : view.text.replace(pattern, by);
  // Few views have a secret, and only that needs the places.
  let places: Places | undefined;
  const placesOf = (): Places => {
    places ??= new Places(view.text, pattern, by);
    return places;
  };
  return {
    text,
    from: (index) => view.from(placesOf().from(index)),
    to: (index) => view.to(placesOf().last(index)),
  };
}

/** The places of characters before the matches of a pattern were replaced. */
class Places {
  /**
   * The text is made of segments: parts that stand as they were, and characters that stand for matches. These are the indexes
   * of their first characters, their begins before, and the last place before of the first character.
   */
  readonly #at: number[] = [];
  readonly #start: number[] = [];
  readonly #firstLast: number[] = [];

  constructor(text: string, pattern: RegExp, by: Replacement) {
    let length = 0;
    let done = 0;
    const add = (size: number, start: number, firstLast: number): void => {
      if (size === 0) return;
      this.#at.push(length);
      this.#start.push(start);
      this.#firstLast.push(firstLast);
      length += size;
    };
    for (const { 0: match, index } of text.matchAll(pattern)) {
      add(index - done, done, done);
      done = index + match.length;
      add(by === '' ? 0 : by(match).length, index, done - 1);
    }
    add(text.length - done, done, done);
  }

  /** Returns the begin of a character. */
  from(index: number): number {
    const segment = lastAtOrBefore(this.#at, index);
    return (this.#start[segment] ?? 0) + index - (this.#at[segment] ?? 0);
  }

  /** Returns the last place of a character. */
  last(index: number): number {
    const segment = lastAtOrBefore(this.#at, index);
    return (this.#firstLast[segment] ?? 0) + index - (this.#at[segment] ?? 0);
  }
}

/** Finds the last of some rising numbers that is not above `index`. */
export function lastAtOrBefore(numbers: readonly number[], index: number): number {
  let low = 0;
  for (let high = numbers.length - 1; low < high; ) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}
