/**
 * Checks that nothing reads the time of the day or sets a timer past the clock that its caller passes in:
 * `node tools/check-clocks.mjs`. A wait that is measured by the time of the day lasts an hour longer when the clock of the
 * machine is set back by an hour.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { BARE_TIMERS, TIME_OF_DAY } from './clock-homes.mjs';

/**
 * @param {string} root a checkout
 * @param {{ timeOfDay: Record<string, string>, timers: Record<string, string> }} homes the files that may
 * @returns {string[]} one sentence for each problem
 */
export function checkClocks(root, homes = { timeOfDay: TIME_OF_DAY, timers: BARE_TIMERS }) {
  const problems = [];
  const used = new Set();
  for (const path of sourcesIn(root)) {
    for (const { kind, text, line } of usesIn(join(root, path))) {
      const home = Object.keys(homes[kind]).find((place) =>
        place.endsWith('/') ? path.startsWith(place) : path === place,
      );
      if (home === undefined) problems.push(`${path}:${line} uses ${text}. ${ADVICE[kind]}`);
      else used.add(`${kind} ${home}`);
    }
  }
  for (const kind of ['timeOfDay', 'timers']) {
    for (const home of Object.keys(homes[kind])) {
      if (!used.has(`${kind} ${home}`)) problems.push(`tools/clock-homes.mjs lists ${home}, which needs no exception`);
    }
  }
  return problems;
}

const ADVICE = {
  timeOfDay: 'Take a clock: now() for what is shown, signed or stored, monotonic() for waits and ages',
  timers: 'Take a clock and call its after()',
};

function sourcesIn(root) {
  return readdirSync(join(root, 'packages'))
    .flatMap((name) => filesIn(join(root, 'packages', name, 'src')))
    .filter((path) => /\.tsx?$/.test(path) && !/\.(test|d)\.tsx?$/.test(path))
    .map((path) => relative(root, path).replaceAll('\\', '/'))
    .sort();
}

function filesIn(folder) {
  let entries = [];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

/** Finds the uses in the code of a file: comments and texts may name them. */
function usesIn(path) {
  const code = readFileSync(path, 'utf8').replace(NO_CODE, blank);
  return USES.flatMap(({ kind, pattern }) =>
    [...code.matchAll(pattern)].map(({ 0: text, index }) => ({
      kind,
      text: text.replace(/\s*\($/, ''),
      line: code.slice(0, index).split('\n').length,
    })),
  );
}

/** Blanks a comment or a text, without the code that a template holds. */
function blank(text) {
  const held = text.startsWith('`') ? [...text.matchAll(/\$\{[^}]*\}/g)] : [];
  const isHeld = (at) => held.some(({ 0: code, index }) => at >= index && at < index + code.length);
  return text.replace(/[^\n]/g, (character, at) => (isHeld(at) ? character : ' '));
}

const NO_CODE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
/** The time of the day is `Date.now`, called or passed on, and `new Date()` without a time. */
const USES = [
  { kind: 'timeOfDay', pattern: /\bDate\.now\b|\bnew Date(?:\(\)|(?!\s*\()\b)/g },
  { kind: 'timers', pattern: /\b(?:setTimeout|setInterval)\s*\(/g },
];

function main() {
  const problems = checkClocks(resolve(fileURLToPath(new URL('..', import.meta.url))));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) exit(1);
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main();
