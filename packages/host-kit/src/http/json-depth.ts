/**
 * Whether JSON nests deeper than `levels`: `1` has none, `[]` and `{}` have one, `[{}]` has two. Scans the bytes once
 * and does not recurse, so it is safe on any input. For input that is not JSON the result has no meaning; the parser
 * rejects it.
 *
 * @see RFC 8259, section 9
 */
export function isDeeperThan(levels: number, json: Uint8Array): boolean {
  if (json.length <= levels) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case QUOTE:
        at = endOfString(json, at);
        break;
      case ARRAY:
      case OBJECT:
        if (++depth > levels) return true;
        break;
      case END_OF_ARRAY:
      case END_OF_OBJECT:
        depth--;
    }
  }
  return false;
}

/** The index of the quote that ends the string that begins at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) return at;
    // An escaped quote does not end a string.
    if (byte === BACKSLASH) at++;
  }
  return json.length;
}

// In UTF-8, none of these bytes is part of another character.
const QUOTE = 0x22;
const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const END_OF_ARRAY = 0x5d;
const OBJECT = 0x7b;
const END_OF_OBJECT = 0x7d;
