/** A parsed JSON object with members of unknown type. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses a JSON object without repeated names. Parsers differ on which of two equal names counts, so a text with two
 * means different things to different readers.
 *
 * @returns undefined for another kind of value, a name that is repeated at any depth, bytes that are not UTF-8, a byte
 * order mark, or a member called `__proto__`
 * @see RFC 8259, section 4; RFC 7519, section 4
 */
export function parseObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const text = UTF_8.decode(bytes);
    const value: unknown = JSON.parse(text);
    return isObject(value) && hasUniqueNames(text, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Returns whether no name is repeated. A parser keeps one of two equal names, so the value would have fewer than the
 * text.
 *
 * @param text JSON that a parser has accepted as `value`, so only strings and colons need recognition
 */
function hasUniqueNames(text: string, value: unknown): boolean {
  return namesWritten(text) === namesKept(value);
}

/** Counts the colons outside of strings: one follows each name. */
function namesWritten(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) count++;
    else if (code === QUOTE) at = endOfString(text, at);
  }
  return count;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** Returns whether an odd number of backslashes precedes a quotation mark. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** Counts the names of a value. NaN, which equals nothing, for a name `__proto__`: copying it could set a prototype. */
function namesKept(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((count, item) => count + namesKept(item), 0);
  let count = 0;
  for (const [name, item] of Object.entries(value)) count += name === '__proto__' ? Number.NaN : 1 + namesKept(item);
  return count;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
