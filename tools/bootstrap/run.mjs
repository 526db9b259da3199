// Runs the npm scripts `start`, `test`, `suites`, `build`, `check`, `docs`, `bench`, `soak` and `load` with any Node of the
// machine: it sets up what is missing, says so, and hands over to the Node that the lockfile pins. Nothing in this
// folder needs more than Node 18.
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { standIn } from './children.mjs';
import { install, installBeside } from './install.mjs';
import { withLock } from './lock.mjs';
import { pinnedNode } from './pinned-node.mjs';

/** Programs of `docs/site` besides the build of the site: `npm run docs -- reference`. */
const DOCS = ['reference', 'docstrings'];

/** The commands of each task, run one after another once everything is set up. */
const TASKS = {
  build: () => [],
  start: (args) => [['examples/reference-host/dist/start.js', ...args]],
  test: (args) => [['node_modules/vitest/vitest.mjs', 'run', ...args], ['tools/check-requirements.mjs']],
  suites: (args) => [['tools/suites.mjs', ...args]],
  check: (args) => [['tools/check.mjs', ...args]],
  docs: (args) => [
    DOCS.includes(args[0]) ? [`docs/site/${args[0]}.mjs`, ...args.slice(1)] : ['docs/site/build.mjs', ...args],
  ],
  bench: (args) => [['bench/run.mjs', ...args]],
  soak: (args) => [['soak/main.ts', ...args]],
  load: (args) => [['load/main.ts', ...args]],
};

/** Folders with a lockfile of their own that one task needs. */
const BESIDE = { test: ['tools/runtimes'], bench: ['bench'], check: ['docs/site'], docs: ['docs/site'] };

/** The check builds by itself, to report a failed build among its findings; the documentation is made from sources. */
const WITHOUT_BUILD = ['check', 'docs'];

const [task = '', ...args] = process.argv.slice(2);
const commandsOf = TASKS[task];
if (commandsOf === undefined) {
  console.error(`Unknown task "${task}". There are: ${Object.keys(TASKS).join(', ')}.`);
  process.exit(2);
}

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
try {
  const node = await withLock('.cache/set-up.lock', setUp);
  for (const command of commandsOf(args)) {
    const code = await standIn(node, command);
    if (code !== 0) process.exit(code);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function setUp() {
  await install();
  for (const folder of BESIDE[task] ?? []) await installBeside(folder);
  const node = await pinnedNode();
  if (!WITHOUT_BUILD.includes(task)) await build(node);
  return node;
}
