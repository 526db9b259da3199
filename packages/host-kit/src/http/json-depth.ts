/**
 * Whether JSON nests deeper than so many levels: `1` has none, `[]` and `{}` have one, `[{}]` has two. Only bytes are looked at, once, so
 * that it can be asked before anything that calls itself for each level. Of what is no JSON the answer means nothing: it is refused later.
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

/** Where the string ends that begins at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) return at;
    // What follows a backslash ends no string.
    if (byte === BACKSLASH) at++;
  }
  return json.length;
}

// None of them is part of another character in UTF-8.
const QUOTE = 0x22;
const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const END_OF_ARRAY = 0x5d;
const OBJECT = 0x7b;
const END_OF_OBJECT = 0x7d;
