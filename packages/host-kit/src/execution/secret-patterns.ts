import { decodedView, lowerCase, plainView } from './text-view.ts';

/** The fewest characters of a secret that can be redacted: a shorter one would also be found in innocent texts. */
export const SHORTEST_SECRET = 8;

/**
 * Returns the texts by which a secret is recognised in a text that was decoded, in lower-case letters: the secret itself,
 * with its spaces as forms encode them, and as a text that is decoded as a whole has it.
 *
 * @param secret printable ASCII
 */
export function secretPatterns(secret: string): readonly string[] {
  return [...new Set([secret, secret.replaceAll(' ', '+'), ...decodedForms(secret)].map(lowerCase))];
}

/**
 * Decodes a secret that has escapes itself, for example a connection string with `%40`. A text is decoded as a whole, so
 * this is the form of the secret in an escaped text. A form that would also be found in innocent texts is left out.
 */
function decodedForms(secret: string): string[] {
  const forms: string[] = [];
  for (let view = decodedView(plainView(secret)); view.text !== (forms.at(-1) ?? secret); view = decodedView(view)) {
    forms.push(view.text);
  }
  return forms.filter(({ length }) => length >= SHORTEST_SECRET);
}
