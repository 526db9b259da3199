/**
 * Compiles and runs the code of every README and of every page of `docs/` as its reader would: `node tools/check-snippets.mjs`, after
 * a build. `node tools/check-snippets.mjs packages/auth` looks at the pages below that path alone.
 *
 * - `ts` blocks are compiled with the options of `tsc --init`, against the declarations of the built packages, and run.
 * - `js` and `sh` blocks are run. `npx` finds the commands of the packages; `npm install` is checked to name packages that are there.
 * - `json` and `jsonc` blocks are parsed. Blocks of other languages are not looked at.
 * - A comment `// → text` (in `sh`: `# → text`) is a line that the block prints; `…` in it is any text. A comment in the line
 *   after it, indented by three spaces or more, continues it.
 * - A port that is written out is replaced by a free one.
 *
 * Comments in HTML say what a block takes from its page, and which blocks are not run and why: see `page-blocks.mjs`.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, relative, resolve, sep } from 'node:path';
import { argv, env, execPath, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { withFreePorts } from './free-ports.mjs';
import { readPage } from './page-blocks.mjs';
import { missingLine } from './shown-output.mjs';
import { Terminal } from './terminal.mjs';

const RUN_LIMIT_MS = 30_000;
const COMPILE_LIMIT_MS = 120_000;
const RUNNER = fileURLToPath(new URL('./run-snippet.mjs', import.meta.url));

/** Folders whose pages are not written by hand, or are nobody's pages. */
const LEFT_OUT = new Set(['node_modules', 'dist', 'reference', 'fixtures']);

/**
 * @param {string} root with the pages
 * @param {{ installed?: string, below?: string }} [options] `installed`: a checkout that is built, whose node_modules the snippets
 * use (default: `root`); `below`: the folder or page to which the check is limited (default: all)
 * @returns {Promise<Report>}
 *
 * @typedef {{ page: string, line: number, message: string }} Finding
 * @typedef {{ counts: Record<'pages' | 'compiled' | 'run' | 'parsed' | 'elsewhere' | 'excepted', number>, exceptions: Finding[],
 *   failures: Finding[] }} Report
 */
export async function checkSnippets(root, { installed = root, below = '' } = {}) {
  const pages = pagesOf(root).filter((page) => page.startsWith(below));
  const workspace = mkdtempSync(join(tmpdir(), 'svc-snippets-'));
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
    await runAll(report, environment, work);
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
  report.failures.sort((a, b) => a.page.localeCompare(b.page) || a.line - b.line);
  return report;
}

/** Every README and every page of docs, as paths below the root with `/`. */
function pagesOf(root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      return entry.name.startsWith('.') || LEFT_OUT.has(entry.name) ? [] : pagesOf(root, path);
    }
    return entry.name === 'README.md' || /^docs\/.*\.md$/.test(path) ? [path] : [];
  });
}

/** Lays out what a user has: the installed packages, and their commands on the path. */
function furnished(workspace, installed) {
  symlinkSync(join(installed, 'node_modules'), join(workspace, 'node_modules'), 'junction');
  writeFileSync(join(workspace, 'package.json'), '{ "private": true, "type": "module" }');
  const commands = join(workspace, 'bin');
  mkdirSync(commands);
  const provide = (name, script) => {
    writeFileSync(join(commands, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(commands, name), 0o755);
  };
  for (const [name, file] of binariesOf(installed)) provide(name, `exec node '${file}' "$@"`);
  provide('npx', 'while [ "$1" = -p ]; do shift 2; done; exec "$@"');
  provide('npm', NPM);
  const path = [commands, dirname(execPath), env.PATH ?? ''].join(delimiter);
  return { ...env, PATH: path, SVC_INSTALLED: join(installed, 'node_modules'), NO_COLOR: '1' };
}

/** Nothing is downloaded: what a page installs has to be there, or the page names a package that the workspace does not use. */
const NPM = `case "$1" in i|install) shift ;; init|pkg) exit 0 ;; *) echo "npm $1 is not run from a page"; exit 1 ;; esac
for name in "$@"; do
  case "$name" in -*) continue ;; esac
  [ -d "$SVC_INSTALLED/$name" ] || { echo "npm install: the workspace has no package $name"; exit 1; }
done`;

function binariesOf(installed) {
  const folder = join(installed, 'packages');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const manifest = join(folder, name, 'package.json');
    if (!existsSync(manifest)) return [];
    const { bin = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
    return Object.entries(bin).map(([command, file]) => [command, join(folder, name, file)]);
  });
}

/**
 * Writes the programs of a page. Each line of a program has the number that it has in the page, so every message of the compiler and
 * every stack names the line of the page.
 */
async function prepare(root, page, folder) {
  const { blocks, preludes, runBy, problems } = readPage(readFileSync(join(root, page), 'utf8'));
  mkdirSync(folder);
  const programs = [];
  for (const block of blocks) {
    if (!(block.language in SUFFIXES)) continue;
    const former = programs.findLast(({ language }) => language === block.language);
    if (block.continues && former !== undefined) {
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
  return { page, folder, blocks, programs, runBy, problems };
}

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

/** Whether a test's text has the name of a page, or of its folder. */
function names(test, page) {
  const text = existsSync(test) ? readFileSync(test, 'utf8') : '';
  return text.includes(basename(page)) || text.includes(dirname(page));
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

/** The options that `tsc --init` writes, for Node. */
const COMPILER_OPTIONS = {
  module: 'nodenext',
  target: 'esnext',
  types: ['node'],
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  strict: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  noUncheckedSideEffectImports: true,
  moduleDetection: 'force',
  skipLibCheck: true,
  // Node runs TypeScript that is types alone.
  erasableSyntaxOnly: true,
  noEmit: true,
};

async function compile({ counts, failures }, workspace, installed, work) {
  const programs = work.flatMap(({ page, programs }) =>
    programs.filter(({ language }) => language === 'ts').map((program) => ({ page, program })),
  );
  const compiler = [join(installed, 'node_modules/typescript/bin/tsc'), '-p', '.', '--pretty', 'false'];
  let rest = programs;
  while (rest.length > 0) {
    const found = await compileOnce(workspace, compiler, rest);
    for (const { page, program, line, message } of found) {
      failures.push({ page, line, message });
      program.isBroken = true;
    }
    // A program that cannot be parsed keeps the compiler from checking the types of the others.
    if (!found.some(({ message }) => message.startsWith('error TS1'))) break;
    rest = rest.filter(({ program }) => program.isBroken !== true);
  }
  for (const { program } of programs) if (program.isBroken !== true) counts.compiled += program.blocks.length;
}

async function compileOnce(workspace, compiler, programs) {
  const files = new Map(programs.map((entry) => [relative(workspace, entry.program.file).split(sep).join('/'), entry]));
  const config = { compilerOptions: COMPILER_OPTIONS, files: [...files.keys()] };
  writeFileSync(join(workspace, 'tsconfig.json'), JSON.stringify(config));
  const { code, output } = await new Terminal(execPath, compiler, { cwd: workspace }).end(COMPILE_LIMIT_MS);
  const found = messagesOf(output, files);
  if (code !== 0 && found.length === 0) throw new Error(`The snippets were not compiled:\n${output}`);
  return found;
}

/** The compiler's messages with their further lines, which are indented. */
function messagesOf(output, files) {
  const found = [];
  for (const line of output.split(/\r?\n/)) {
    const [, file = '', number = '', message = ''] = /^(.+)\((\d+),\d+\): (error .*)$/.exec(line) ?? [];
    const entry = files.get(file);
    if (entry !== undefined) found.push({ ...entry, line: Number(number), message });
    else if (line.startsWith(' ') && found.length > 0) found.at(-1).message += `\n${line}`;
  }
  return found;
}

/** The programs of a page one after another, as they are read; several pages at a time. */
async function runAll(report, environment, work) {
  const waiting = [...work];
  const lane = async () => {
    for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) {
      for (const program of page.programs) {
        if (page.runBy === undefined && program.exception === undefined && program.isBroken !== true) {
          await runProgram(report, environment, page, program);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, lane));
}

async function runProgram({ counts, failures }, environment, { page, folder }, { language, file, blocks }) {
  const [command, args] = language === 'sh' ? ['bash', ['-e', file]] : [execPath, [RUNNER, file]];
  const terminal = new Terminal(command, args, { cwd: folder, env: environment });
  const { code, output } = await terminal.end(RUN_LIMIT_MS);
  const first = blocks[0].line;
  if (code !== 0) {
    const end = code === undefined ? `did not end within ${RUN_LIMIT_MS / 1000} s` : `ended with exit code ${code}`;
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

/** The line of the program that a stack or the shell names first. */
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
