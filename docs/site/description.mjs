/**
 * The first whole sentences of a page, which search engines show: of its first paragraph that has a sentence.
 *
 * @param {readonly string[]} paragraphs in plain text
 */
export function descriptionOf(paragraphs) {
  const [paragraph = ''] = paragraphs.filter((text) => SENTENCES.test(text));
  return SENTENCES.exec(paragraph)?.[0] ?? '';
}

/** At most 200 characters, unless the first sentence is longer. A dot within a word ends none. */
const SENTENCES = /^(?:.{0,199}|.*?)[.](?=\s|$)/;
