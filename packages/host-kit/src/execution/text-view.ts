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

/** Lower-cases ASCII letters, which keeps the length of every text. */
export function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Lower-cases the letters. */
export function lowerCaseView(view: TextView): TextView {
  return { ...view, text: lowerCase(view.text) };
}

/** Joins the lines of base64, and puts both alphabets into one. */
export function base64View(view: TextView): TextView {
  const joined = replaced(view, /\s+|\\[rn]/g, () => '');
  return { ...joined, text: joined.text.replaceAll('-', '+').replaceAll('_', '/') };
}

/** Joins hexadecimal digits that are separated by white space, punctuation or prefixes. */
export function hexView(view: TextView): TextView {
  return lowerCaseView(replaced(view, /0x|\\x|[\s:,;-]+/gi, () => ''));
}

/** Replaces each match by at most one character. */
function replaced(view: TextView, pattern: RegExp, by: (match: string) => string): TextView {
  if (view.text.search(pattern) < 0) return view;
  const from: number[] = [];
  const to: number[] = [];
  const text: string[] = [];
  let done = 0;
  const keep = (end: number): void => {
    text.push(view.text.slice(done, end));
    for (let index = done; index < end; index++) {
      from.push(view.from(index));
      to.push(view.to(index));
    }
  };
  for (const { 0: match, index } of view.text.matchAll(pattern)) {
    keep(index);
    done = index + match.length;
    const character = by(match);
    if (character === '') continue;
    text.push(character);
    from.push(view.from(index));
    to.push(view.to(done - 1));
  }
  keep(view.text.length);
  return { text: text.join(''), from: (index) => from[index] ?? 0, to: (index) => to[index] ?? 0 };
}
