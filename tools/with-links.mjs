/**
 * Replaces the target of each link and picture of a Markdown text. Code stays as it is.
 *
 * @param {string} text
 * @param {(href: string) => string} lead returns the new target
 */
export function withLinks(text, lead) {
  let isCode = false;
  const lines = text.split('\n').map((line) => {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    if (isCode) return line;
    // The parts at odd places are code.
    const parts = line.split(/(`+[^`]*`+)/);
    const led = (part) => part.replace(/\]\(([^()\s]+)\)/g, (_, href) => `](${lead(href)})`);
    return parts.map((part, index) => (index % 2 === 1 ? part : led(part))).join('');
  });
  return lines.join('\n');
}
