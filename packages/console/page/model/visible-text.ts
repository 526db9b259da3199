/**
 * Returns a text in which every character can be seen: control characters, and those that change the direction of the text
 * around them or have no width, become escapes such as `\u202e`. A name cannot disguise itself as another one.
 *
 * @param keepLines true: line breaks and tabs stay, for a text that is shown over several lines
 */
export function visibleText(text: string, keepLines = false): string {
  return text.replace(UNSEEN, (character) => {
    if (keepLines && (character === '\n' || character === '\t')) return character;
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** Controls, formats (directions, joiners), line separators and halves of surrogate pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Returns a value as indented JSON for people, cut after `most` characters. */
export function shownJson(value: unknown, most = 65_536): { readonly text: string; readonly cut: number } {
  const whole = JSON.stringify(value, undefined, 2) ?? '';
  return { text: visibleText(whole.slice(0, most), true), cut: Math.max(0, whole.length - most) };
}
