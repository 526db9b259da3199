import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/**
 * Returns the sentence with which a question is put to a person, from the member that its kind has for it. Undefined
 * for a kind without such a member.
 *
 * @param question in the form of major 2
 */
export function questionText({ data }: JsonObject): string | undefined {
  if (!isJsonObject(data)) return undefined;
  const { questions, title, prompt, initialPrompt } = data;
  if (Array.isArray(questions)) return textOf(questions.flatMap((one) => (isJsonObject(one) ? [one.question] : [])));
  return textOf([title, prompt ?? initialPrompt]);
}

function textOf(lines: readonly (Json | undefined)[]): string | undefined {
  const texts = lines.filter((line) => typeof line === 'string' && line !== '');
  return texts.length === 0 ? undefined : texts.join('\n');
}
