import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { withFreePorts } from './free-ports.mjs';
import { readPage } from './page-blocks.mjs';
import { missingLine } from './shown-output.mjs';
import { Terminal } from './terminal.mjs';

/** For one block, on a busy machine. */
const LIMIT_MS = 30_000;
/** A page calls programs on this machine, and no proxy does. */
const LOOPBACK = { no_proxy: '127.0.0.1,localhost', NO_PROXY: '127.0.0.1,localhost' };
const INSTALLER = fileURLToPath(new URL('./install-packed.mjs', import.meta.url));

/**
 * Follows a page from a blank folder, block by block:
 *
 * - a `ts` block is saved under the name in its first line, `// name.ts`;
 * - an `sh` block is run to its end and must succeed. Later blocks see its variables. A block under
 *   `<!-- stays running -->` runs in a terminal of its own until the end of the page;
 * - a `text` block has lines that one of the terminals prints; `…` is any text.
 *
 * @param {string} page path of the page
 * @param {{ checkout: string, tarballs: string, section?: string, portsTaken?: boolean }} from the sources of `npm i`: a checkout with
 * node_modules, and a folder with the packed packages. `section`: the title of the only section to follow (default: the
 * whole page). `portsTaken`: also starts each program that stays running while its port is taken, and requires one sentence
 * and the exit code 1
 * @throws {Error} naming the page, the line and the output
 */
export async function walkThrough(page, { checkout, tarballs, section, portsTaken = false }) {
  const text = readFileSync(page, 'utf8');
  const { blocks } = readPage(await withFreePorts(section === undefined ? text : sectionOf(text, section)));
  if (blocks.length === 0) throw new Error(`${page} has no blocks in the section ${section}`);
  const outside = mkdtempSync(join(tmpdir(), 'svc-start-'));
  const folder = join(outside, 'blank');
  mkdirSync(folder);
  const walk = { folder, state: join(outside, 'variables'), environment: furnished(outside), terminals: [] };
  writeFileSync(walk.state, '');
  try {
    for (const block of blocks) {
      const problem = await STEPS[block.language]?.(block, walk);
      if (problem !== undefined) throw new Error(`${page}:${block.line} ${problem}\n${outputOf(walk)}`);
    }
    if (!portsTaken) return;
    // They hold the ports, and their databases.
    await closeAll(walk);
    for (const block of blocks.filter(({ staysRunning }) => staysRunning)) {
      const problem = await startOnTakenPort(block, walk);
      if (problem !== undefined) throw new Error(`${page}:${block.line} ${problem}`);
    }
  } finally {
    await closeAll(walk);
    rmSync(outside, { recursive: true, force: true });
  }

  function furnished(parent) {
    const commands = join(parent, 'bin');
    mkdirSync(commands);
    writeFileSync(join(commands, 'npm'), `#!/bin/sh\nexec '${execPath}' '${INSTALLER}' "$@"\n`);
    chmodSync(join(commands, 'npm'), 0o755);
    const path = [commands, dirname(execPath), env.PATH ?? ''].join(delimiter);
    // A newcomer does not have the settings of the test runner.
    const { NODE_OPTIONS, NODE_ENV, VITEST, ...rest } = env;
    return { ...rest, ...LOOPBACK, PATH: path, SVC_CHECKOUT: checkout, SVC_TARBALLS: tarballs, NO_COLOR: '1' };
  }
}

async function closeAll({ terminals }) {
  for (const terminal of terminals) terminal.kill();
  await Promise.all(terminals.map((terminal) => terminal.end(LIMIT_MS)));
}

/** Returns a problem, or undefined. A command without a file of the page, such as `node -e`, is no program of a reader. */
async function startOnTakenPort({ lines }, { folder, environment }) {
  const [command = ''] = lines;
  const [, name] = /(?:^|\s)node ([\w.-]+\.m?ts)$/.exec(command) ?? [];
  if (name === undefined) return undefined;
  const [, port] = /\blisten\((?:host, )?(\d+)[,)]/.exec(readFileSync(join(folder, name), 'utf8')) ?? [];
  if (port === undefined) return `${name} listens on no port that it names`;
  const other = createServer().listen(Number(port), '127.0.0.1');
  try {
    await once(other, 'listening');
    const { code, output } = await new Terminal('bash', ['-c', command], { cwd: folder, env: environment }).end(
      LIMIT_MS,
    );
    if (code === 1 && PORT_TAKEN.test(output) && !STACK.test(output)) return undefined;
    return `${name} does not end with one sentence when its port is taken, but with exit code ${code}\n${output}`;
  } finally {
    other.close();
  }
}

const PORT_TAKEN =
  /listen(?: EADDRINUSE: address already in use 127\.0\.0\.1:\d+|: port \d+ of 127\.0\.0\.1 is taken)\. Stop the other program, or choose another port\./;
const STACK = /^ +at /m;

/** Returns the section below a heading of the second level. Its lines keep their numbers. */
function sectionOf(text, title) {
  const lines = text.split('\n');
  const start = lines.indexOf(`## ${title}`);
  const next = lines.findIndex((line, index) => index > start && line.startsWith('## '));
  if (start === -1) return '';
  const section = lines.slice(start, next === -1 ? undefined : next);
  return [...Array.from({ length: start }, () => ''), ...section].join('\n');
}

/** Each returns a problem, or undefined. */
const STEPS = {
  ts: save,
  sh: execute,
  text: show,
};

function save({ lines }, { folder }) {
  const [, name] = /^\/\/ ([\w.-]+)$/.exec(lines[0] ?? '') ?? [];
  if (name === undefined) return 'does not begin with the name of its file: // name.ts';
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  return undefined;
}

async function execute({ lines, staysRunning }, { folder, state, environment, terminals }) {
  const program = lines.join('\n');
  const options = { cwd: folder, env: environment };
  if (staysRunning) {
    terminals.push(new Terminal('bash', ['-c', program], options));
    return undefined;
  }
  // A reader types all blocks into one terminal, so a variable of one block is set in the next.
  const script = `set -ea\n. '${state}'\n${program}\nexport -p > '${state}'\n`;
  const terminal = new Terminal('bash', ['-c', script], options);
  terminals.push(terminal);
  const { code } = await terminal.end(LIMIT_MS);
  return code === 0 ? undefined : `ended with ${code === undefined ? 'its time limit' : `exit code ${code}`}`;
}

async function show({ lines }, { terminals }) {
  const isShown = (output) => missingLine(output, lines.filter(isFilled)) === undefined;
  const shown = await Promise.any(
    terminals.map(async (terminal) => {
      if (!(await terminal.shows(isShown, LIMIT_MS))) throw new Error('not shown here');
    }),
  ).then(
    () => true,
    () => false,
  );
  return shown ? undefined : 'is not what the terminals show';
}

function isFilled(line) {
  return line.trim() !== '';
}

function outputOf({ terminals }) {
  return terminals.map(({ output }, index) => `── terminal ${index + 1} ──\n${output}`).join('\n');
}
