/**
 * Counts the shapes of sentences that have to be read twice, in comments and in Markdown: `node tools/check-sentences.mjs` fails above the
 * limits. `-- PATH…` counts some files only, and `--list` prints each place.
 *
 * A sentence below the limits is not yet a good one. CONTRIBUTING.md has the rule.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

/** The shapes, each with its limit per 1 000 words. The limits are near the figures of admired codebases. */
export const SHAPES = [
  {
    name: 'a comment that begins with "What", "Whoever" or "Whatever"',
    pattern: /^\s*(?:What|Whoever|Whatever)\b/g,
    limit: 0,
  },
  {
    name: 'a free relative in place of a noun ("what is …", "what was …", "what it …")',
    pattern: /\bwhat (?:is|are|was|were|has|have|had|it|they|an?|the)\b/gi,
    limit: 1,
  },
  {
    name: 'a person without a name ("whoever", "whatever", "nobody", "everybody", "somebody")',
    pattern: /\b(?:whoever|whomever|whatever|nobody|everybody|somebody)\b/gi,
    limit: 0.5,
  },
];

/**
 * @param {readonly { path: string, text: string }[]} files
 * @returns {{ words: number, shapes: { name: string, limit: number, places: string[], per1000: number }[] }}
 */
export function countShapes(files) {
  const passages = files.flatMap(({ path, text }) => passagesOf(path, text));
  const words = passages.reduce((sum, { text }) => sum + text.split(/\s+/).filter(Boolean).length, 0);
  const shapes = SHAPES.map(({ name, pattern, limit }) => {
    const places = passages.flatMap(({ path, line, text }) =>
      [...text.matchAll(pattern)].map(
        (match) => `${path}:${line + linesBefore(text, match.index + leadingSpace(match[0]))} ${match[0].trim()}`,
      ),
    );
    return { name, limit, places, per1000: words === 0 ? 0 : (places.length * 1000) / words };
  });
  return { words, shapes };
}

/** The comments of a source file, or the prose of a page: neither code blocks nor tables that are generated. */
function passagesOf(path, text) {
  if (path.endsWith('.md')) return [{ path, line: 1, text: blanked(text, /```[\s\S]*?```|<!--[\s\S]*?-->/g) }];
  return [...text.matchAll(COMMENTS)].map((match) => ({
    path,
    line: 1 + linesBefore(text, match.index),
    text: (match[1] ?? match[2]).replace(/^[ \t]*(?:\*|\/\/)?[ \t]?/gm, ''),
  }));
}

/** Block comments, and runs of line comments that stand on lines of their own. */
const COMMENTS = /\/\*\*?([\s\S]*?)\*\/|^[ \t]*(\/\/.*(?:\n[ \t]*\/\/.*)*)/gm;

/** Keeps the line breaks, so that lines keep their numbers. */
function blanked(text, pattern) {
  return text.replace(pattern, (found) => found.replace(/[^\n]/g, ' '));
}

function leadingSpace(text) {
  return text.length - text.trimStart().length;
}

function linesBefore(text, index) {
  return text.slice(0, index).split('\n').length - 1;
}

/** Tracked files of a checkout, without changelogs, generated pages and this rule itself. */
function filesOf(root, paths) {
  const listed = execFileSync('git', ['ls-files', '--', ...paths], { cwd: root, encoding: 'utf8' }).split('\n');
  return listed
    .filter((path) => /\.(?:ts|mjs|md)$/.test(path) && existsSync(join(root, path)))
    .filter((path) => !/CHANGELOG\.md$|^docs\/reference\/|^docs\/conformance\.md$|^tools\/check-sentences\./.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const paths = argv.slice(2).filter((argument) => argument !== '--list');
  const { words, shapes } = countShapes(filesOf(root, paths));
  for (const { name, limit, places, per1000 } of shapes) {
    const isOver = per1000 > limit;
    if (isOver || argv.includes('--list')) for (const place of places) console.error(place);
    console.log(`${isOver ? 'over ' : 'ok   '} ${per1000.toFixed(2)} of at most ${limit} per 1000 words: ${name}`);
  }
  console.log(`${words} words.`);
  if (shapes.some(({ per1000, limit }) => per1000 > limit)) exit(1);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
