import { writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { execPath } from 'node:process';
import { Terminal } from './terminal.mjs';

const LIMIT_MS = 120_000;

/**
 * Compiles the `ts` programs of all pages in one run, and notes in each whether it is broken.
 *
 * @param {import('./check-snippets.mjs').Report} report takes the counts and the failures
 * @param {string} workspace the folder that holds the programs
 * @param {string} installed a checkout that is built, whose compiler is used
 * @param {readonly { page: string, programs: Program[] }[]} work
 *
 * @typedef {import('./page-blocks.mjs').Block} Block
 * @typedef {{ language: string, file: string, blocks: Block[], isBroken?: boolean }} Program
 */
export async function compile({ counts, failures }, workspace, installed, work) {
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
  const { code, output } = await new Terminal(execPath, compiler, { cwd: workspace }).end(LIMIT_MS);
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
