import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readPage } from '../../tools/page-blocks.mjs';

/**
 * Puts code of other pages into a page, so that a page can show code that the checks execute elsewhere.
 *
 * | Comment, on a line of its own | Becomes |
 * |---|---|
 * | `<!-- code of page.md -->` | the first `ts` block of that page |
 * | `<!-- code of page.md: const engine -->` | the statement of a `ts` block that begins with `const engine` |
 *
 * @param {string} root a checkout
 * @param {string} path of the page, from the root; the page in a comment is relative to it
 * @param {string} text of the page
 * @returns {{ text: string, problems: string[] }} one sentence for each comment whose code does not exist; that comment stays
 */
export function withIncludedCode(root, path, text) {
  const problems = [];
  const included = text.replace(INCLUSION, (comment, page, start = '') => {
    const file = join(root, posix.join(posix.dirname(path), page));
    const blocks = existsSync(file) ? readPage(readFileSync(file, 'utf8')).blocks : [];
    const code = blocks
      .filter(({ language }) => language === 'ts')
      .map(({ lines }) => (start === '' ? lines : statementOf(lines, start)))
      .find((lines) => lines.length > 0);
    if (code !== undefined) return ['```ts', ...code, '```'].join('\n');
    const missing = start === '' ? 'has no ts block' : `has no statement that begins with ${start}`;
    problems.push(`${path}: shows code of ${page}, which ${missing}. Correct the comment.`);
    return comment;
  });
  return { text: included, problems };
}

const INCLUSION = /^<!-- code of ([^\s:]+)(?:: (.+))? -->$/gm;

/** A statement of a formatted program ends where a line closes a bracket at the margin, or at once. */
function statementOf(lines, start) {
  const first = lines.findIndex((line) => line.startsWith(start));
  if (first === -1) return [];
  const isOneLine = lines[first].endsWith(';');
  const length = isOneLine ? 1 : lines.slice(first).findIndex((line) => /^[)}\]]/.test(line)) + 1;
  return lines.slice(first, first + length);
}
