/**
 * Compiles and runs the code of every README and of every page of `docs/` as its reader would:
 * `node tools/check-snippets.mjs`, after a build. `node tools/check-snippets.mjs packages/auth` checks only the pages
 * below that path.
 *
 * - `ts` blocks are compiled with the options of `tsc --init`, against the declarations of the built packages, and run.
 * - `js` and `sh` blocks are run. `npx` finds the commands of the packages. `npm install` downloads nothing: it fails for
 *   a package that the workspace does not have.
 * - `json` and `jsonc` blocks are parsed. Blocks of other languages are ignored.
 * - A comment `// → text` (in `sh`: `# → text`) is a line that the block prints; `…` in it is any text. A comment in
 *   the next line, indented by three spaces or more, continues it.
 * - The `ts` blocks of a guide (`docs/guides/`) are one program, in their order, as a reader pastes them. Hidden code is
 *   refused there.
 * - A line of a `ts` or `js` block has at most 80 characters, unless it is a result.
 * - A port that is written out is replaced by a free one.
 * - A program that listens is ended as soon as it listens; any other must end by itself, with exit code 0.
 *
 * HTML comments declare the names that a block takes from its reader, and the blocks that are not run, with the reason:
 * see `page-blocks.mjs`.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { argv, execPath, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { withFreePorts } from './free-ports.mjs';
import { readPage } from './page-blocks.mjs';
import { startPostgres } from './postgres.ts';
import { missingLine } from './shown-output.mjs';
import { compile } from './snippet-compiler.mjs';
import { furnished } from './snippet-workspace.mjs';
import { Terminal } from './terminal.mjs';

const RUN_LIMIT_MS = 30_000;
const RUNNER = fileURLToPath(new URL('./run-snippet.mjs', import.meta.url));

/** Folders of generated pages, installed packages, test data and copies of examples. */
const LEFT_OUT = new Set(['node_modules', 'dist', 'reference', 'fixtures', 'templates', 'manual']);

/**
 * Checks the pages of a tree.
 *
 * @param {string} root the folder with the pages
 * @param {{ installed?: string, below?: string, runLimitMs?: number }} [options] `installed`: the built checkout whose
 * node_modules the snippets use (default `root`); `below`: the only pages to check, by the start of their paths
 * (default all); `runLimitMs`: the longest run of one program (default 30 000)
 * @returns {Promise<Report>}
 *
 * @typedef {{ page: string, line: number, message: string }} Finding
 * @typedef {'pages' | 'compiled' | 'run' | 'parsed' | 'elsewhere' | 'excepted'} Count
 * @typedef {{ counts: Record<Count, number>, exceptions: Finding[], failures: Finding[] }} Report
 */
export async function checkSnippets(root, { installed = root, below = '', runLimitMs = RUN_LIMIT_MS } = {}) {
  const pages = pagesOf(root).filter((page) => page.startsWith(below));
  const workspace = mkdtempSync(join(tmpdir(), 'svc-snippets-'));
  const removeWorkspace = () => rmSync(workspace, { recursive: true, force: true });
  process.once('exit', removeWorkspace);
  const report = {
    counts: { pages: 0, compiled: 0, run: 0, parsed: 0, elsewhere: 0, excepted: 0 },
    exceptions: [],
    failures: [],
  };
  try {
    const environment = furnished(workspace, installed);
    const work = await Promise.all(pages.map((page, index) => prepare(root, page, join(workspace, String(index)))));
    for (const page of work) noteExceptions(report, root, page);
    for (const page of work) parseJson(report, page);
    await compile(report, workspace, installed, work);
    await runAll(report, { environment, limitMs: runLimitMs }, work);
  } finally {
    removeWorkspace();
    process.off('exit', removeWorkspace);
  }
  report.failures.sort((a, b) => a.page.localeCompare(b.page) || a.line - b.line);
  return report;
}

/** Returns every README and every page of docs, as paths relative to the root with `/`. */
function pagesOf(root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      return entry.name.startsWith('.') || LEFT_OUT.has(entry.name) ? [] : pagesOf(root, path);
    }
    return entry.name === 'README.md' || /^docs\/.*\.md$/.test(path) ? [path] : [];
  });
}

/**
 * Writes the programs of a page. Each line of a program has the number that it has in the page, so every message of the
 * compiler and every stack names the line of the page.
 */
async function prepare(root, page, folder) {
  const { blocks, preludes, runBy, withPostgres, problems } = readPage(readFileSync(join(root, page), 'utf8'));
  const isGuide = page.startsWith(GUIDES);
  if (isGuide) for (const { line } of preludes) problems.push({ line: line - 1, problem: HIDDEN });
  problems.push(...blocks.flatMap(longLines));
  mkdirSync(folder);
  const programs = [];
  for (const block of blocks) {
    if (!(block.language in SUFFIXES)) continue;
    const former = programs.findLast(({ language }) => language === block.language);
    const continues = block.continues || (isGuide && runBy === undefined && block.language === 'ts');
    if (continues && former !== undefined) {
      former.blocks.push(block);
      former.exception ??= block.exception;
      continue;
    }
    const prelude = preludes.findLast(({ language, line }) => language === block.language && line < block.line);
    const file = join(folder, `line-${block.line}${SUFFIXES[block.language]}`);
    programs.push({ language: block.language, file, prelude, blocks: [block], exception: block.exception });
  }
  for (const { file, prelude, blocks: parts } of programs) {
    writeFileSync(file, await withFreePorts(textOf(prelude === undefined ? parts : [prelude, ...parts])));
  }
  return { page, folder, blocks, programs, runBy, withPostgres, problems };
}

/** A line of the site has 80 columns on a screen of 1280 pixels. A result can be longer: it is one line of output. */
function longLines({ language, line, lines }) {
  if (language !== 'ts' && language !== 'js') return [];
  return lines.flatMap((text, index) => {
    if (text.length <= COLUMNS || text.trimStart().startsWith('// →')) return [];
    return [
      {
        line: line + index,
        problem: `has ${text.length} characters. Write at most ${COLUMNS}, so that no reader scrolls.`,
      },
    ];
  });
}

const COLUMNS = 80;

const GUIDES = 'docs/guides/';
const HIDDEN =
  'the prelude: no reader of a guide sees its code. Show it in a block, in <details> with the summary "The program around it".';

const SUFFIXES = { ts: '.ts', js: '.mjs', sh: '.sh' };

function textOf(parts) {
  const lines = [];
  for (const part of parts) {
    for (const [index, line] of part.lines.entries()) lines[part.line - 1 + index] = line;
  }
  return `${Array.from(lines, (line) => line ?? '').join('\n')}\n`;
}

function noteExceptions({ counts, exceptions, failures }, root, { page, programs, runBy, problems }) {
  counts.pages += 1;
  for (const { line, problem } of problems) failures.push({ page, line, message: problem });
  if (runBy !== undefined && !names(join(root, runBy), page)) {
    failures.push({ page, line: 1, message: `${runBy}, which should run this page, is missing or does not name it` });
  }
  for (const { exception, blocks } of programs) {
    if (runBy !== undefined) counts.elsewhere += blocks.length;
    else if (exception !== undefined) counts.excepted += blocks.length;
    const message = runBy === undefined ? exception : `run by ${runBy}`;
    if (message !== undefined) exceptions.push({ page, line: blocks[0].line, message });
  }
}

/** Returns true when the text of a test has the name of a page, or of its folder. */
function names(test, page) {
  const text = existsSync(test) ? readFileSync(test, 'utf8') : '';
  const folder = dirname(page);
  return text.includes(basename(page)) || (folder.includes('/') && text.includes(folder));
}

function parseJson({ counts, failures }, { page, blocks }) {
  for (const { language, line, lines } of blocks) {
    if (language !== 'json' && language !== 'jsonc') continue;
    const text = lines.join('\n');
    try {
      JSON.parse(language === 'json' ? text : withoutComments(text));
      counts.parsed += 1;
    } catch (error) {
      failures.push({ page, line, message: error.message });
    }
  }
}

/** A string is matched first, so that `//` inside of one is no comment. */
function withoutComments(text) {
  return text.replace(/("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\//g, (_, string = '') => string);
}

/** The programs of a page one after another, as they are read; several pages at a time. */
async function runAll(report, options, work) {
  const waiting = [...work];
  const lane = async () => {
    for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) {
      await runPage(report, options, page);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, lane));
}

async function runPage(report, options, page) {
  const programs = page.programs.filter(({ exception, isBroken }) => exception === undefined && isBroken !== true);
  if (page.runBy !== undefined || programs.length === 0) return;
  // In a process group of its own: the signal that ends a program does not reach it.
  const server = page.withPostgres === true ? await startPostgres({ isApart: true }) : undefined;
  const environment = { ...options.environment, ...(server !== undefined && { DATABASE_URL: server.url }) };
  try {
    for (const program of programs) await runProgram(report, { ...options, environment }, page, program);
  } finally {
    await server?.stop();
  }
}

async function runProgram(
  { counts, failures },
  { environment, limitMs },
  { page, folder },
  { language, file, blocks },
) {
  const [command, args] = language === 'sh' ? ['bash', ['-e', file]] : [execPath, [RUNNER, file]];
  const terminal = new Terminal(command, args, { cwd: folder, env: environment });
  const { code, output } = await terminal.end(limitMs);
  const first = blocks[0].line;
  if (code !== 0) {
    const end = code === undefined ? `did not end within ${limitMs / 1000} s` : `ended with exit code ${code}`;
    const message = `the block ${end}\n${output.trim().replaceAll(file, page)}`;
    failures.push({ page, line: lineIn(output, file) ?? first, message });
    return;
  }
  const outcomes = blocks.flatMap(outcomesOf);
  const missing = missingLine(
    output,
    outcomes.map(({ text }) => text),
  );
  if (missing === undefined) {
    counts.run += blocks.length;
    return;
  }
  const { line, text } = outcomes[missing];
  failures.push({ page, line, message: `the block does not print "${text}" here; it printed\n${output.trim()}` });
}

/** Returns the line of the program that a stack or the shell names first. */
function lineIn(output, file) {
  const at = output.indexOf(file);
  if (at === -1) return undefined;
  const [, number] = /^(?:: line |:)(\d+)/.exec(output.slice(at + file.length)) ?? [];
  return number === undefined ? undefined : Number(number);
}

function outcomesOf({ line, lines }) {
  const outcomes = [];
  for (const [index, text] of lines.entries()) {
    const [, outcome] = /(?:\/\/|#) → (.*)$/.exec(text) ?? [];
    const [, more] = /^\s*(?:\/\/|#)\s{3,}(\S.*)$/.exec(text) ?? [];
    const last = outcomes.at(-1);
    if (outcome !== undefined) outcomes.push({ line: line + index, end: index, text: outcome });
    else if (more !== undefined && last?.end === index - 1)
      Object.assign(last, { end: index, text: `${last.text} ${more}` });
  }
  return outcomes;
}

async function main() {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => exit(1));
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { counts, exceptions, failures } = await checkSnippets(root, { below: argv[2] ?? '' });
  const reasons = Map.groupBy(exceptions, ({ page, message }) => `${page}: ${message}`);
  for (const [reason, { length }] of reasons) console.log(`${String(length).padStart(3)} × ${reason}`);
  console.log(
    `${counts.pages} pages: ${counts.compiled} blocks compiled, ${counts.run} run, ${counts.parsed} parsed, ` +
      `${counts.elsewhere} run by tests, ${counts.excepted} not run, as listed.`,
  );
  for (const { page, line, message } of failures) console.error(`\n${page}:${line}\n${message}`);
  if (failures.length > 0) {
    console.error(`\n${failures.length} failures.`);
    process.exitCode = 1;
  }
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) await main();
