/** A JSON object as it was read: nothing is known of its members yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads a JSON object in which every name is there once. Parsers differ on which of two equal names counts, so a text with two
 * means different things to different readers.
 *
 * @returns undefined for anything but one plain object: another kind of value, a repeated name at any depth, bytes that are no
 * UTF-8, a byte order mark, or a member called `__proto__`
 * @see RFC 8259, section 4; RFC 7519, section 4
 */
export function parseObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const text = UTF_8.decode(bytes);
    const value: unknown = JSON.parse(text);
    return isObject(value) && hasUniqueNames(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @param text JSON that a parser has accepted, so nothing but strings and brackets has to be told apart */
function hasUniqueNames(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [token, name] = match;
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (name !== undefined) {
      const names = open.at(-1);
      const plain: unknown = name.includes('\\') ? JSON.parse(`"${name}"`) : name;
      if (names === undefined || typeof plain !== 'string' || plain === '__proto__' || names.has(plain)) return false;
      names.add(plain);
    }
  }
  return true;
}

/** A bracket, a name with its colon, or any other string, which is skipped so that no bracket inside of it counts. */
const TOKEN = /[{}[\]]|"((?:[^"\\]|\\.)*)"[ \t\r\n]*:|"(?:[^"\\]|\\.)*"/g;
