/**
 * The text of a cursor. It is opaque to callers.
 *
 * @param parts the owner of the list first, so that no other list accepts it; then the place of its last entry
 */
export function textOfCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/**
 * Returns the parts of a cursor; none for a text that `textOfCursor` did not make. A caller can make one, too, so each part
 * is checked by the list. No name has a control character, and PostgreSQL fails on U+0000.
 *
 * @param longest the most characters of the text
 */
export function partsOfCursor(text: string, longest = LONGEST): readonly unknown[] {
  if (text.length > longest || !/^[A-Za-z0-9_-]+$/.test(text)) return [];
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(parsed) && !parsed.some(hasControlCharacter) ? parsed : [];
  } catch {
    return [];
  }
}

const LONGEST = 2048;

function hasControlCharacter(part: unknown): boolean {
  return typeof part === 'string' && /\p{C}/u.test(part);
}

/** Whether a part of a cursor is a whole number. */
export function isWhole(part: unknown): part is number {
  return Number.isSafeInteger(part);
}
