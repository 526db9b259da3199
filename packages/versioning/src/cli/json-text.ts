/** A value in the text of a JSON document: `text.slice(start, end)`. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** A member of an object, with the span of its value. */
export interface TextMember extends TextSpan {
  /** The name, without escapes. */
  readonly name: string;
}

/**
 * Lists the members of the object that begins at `start`, in their order, repeated names included. `JSON.parse` would
 * drop repeated names and round numbers, so a conversion that keeps the text works on spans.
 *
 * @param text valid JSON
 * @returns nothing when the value is no object
 */
export function* membersOf(text: string, start: number): Generator<TextMember> {
  if (text[start] !== '{') return;
  for (let at = afterSpace(text, start + 1); text[at] === '"' || text[at] === ','; ) {
    if (text[at] === ',') at = afterSpace(text, at + 1);
    const nameEnd = endOfString(text, at);
    const name: string = JSON.parse(text.slice(at, nameEnd));
    const valueStart = afterSpace(text, afterSpace(text, nameEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    yield { name, start: valueStart, end: valueEnd };
    at = afterSpace(text, valueEnd);
  }
}

/**
 * Lists the elements of the list that begins at `start`.
 *
 * @param text valid JSON
 * @returns nothing when the value is no list
 */
export function* elementsOf(text: string, start: number): Generator<TextSpan> {
  if (text[start] !== '[') return;
  for (let at = afterSpace(text, start + 1); text[at] !== ']'; ) {
    if (text[at] === ',') at = afterSpace(text, at + 1);
    const end = endOfValue(text, at);
    yield { start: at, end };
    at = afterSpace(text, end);
  }
}

/** Returns the position of the first character from `at` that is no white space of JSON. */
export function afterSpace(text: string, at: number): number {
  let end = at;
  while (isSpace(text.charCodeAt(end))) end++;
  return end;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Counts brackets instead of calling itself, so that the depth of a document does not matter. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; ; ) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '{' || character === '[') {
      depth++;
      at++;
    } else if (character === '}' || character === ']') {
      depth--;
      at++;
    } else if (depth === 0) return endOfScalar(text, at);
    else at++;
    if (depth === 0) return at;
  }
}

function endOfScalar(text: string, start: number): number {
  SCALAR.lastIndex = start;
  SCALAR.exec(text);
  return SCALAR.lastIndex;
}

/** A number, `true`, `false` or `null`. */
const SCALAR = /[-+.0-9A-Za-z]*/y;

function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at);
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}
