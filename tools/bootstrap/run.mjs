// Runs the npm scripts `start`, `test`, `suites`, `build`, `check`, `docs`, `generate`, `bench`, `faults`, `mutate`, `soak`, `load`, `cli` and
// those of a release with any Node of the machine: it sets up what is missing, says so, and hands over to the Node that the lockfile pins. Nothing in this
// folder needs more than Node 18.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUDGETS } from '../ci/steps.mjs';
import { build } from './build.mjs';
import { standIn } from './children.mjs';
import { install, installBeside } from './install.mjs';
import { withLock } from './lock.mjs';
import { pinnedNode } from './pinned-node.mjs';
import { commandsOfPackages } from './workspaces.mjs';

/** Programs of `docs/site` besides the build of the site: `npm run docs -- reference`. */
const DOCS = ['reference', 'docstrings', 'api'];

/** Each writes a generated file of the checkout from its sources. */
const GENERATORS = [
  ['tools/write-versions.mjs'],
  ['tools/write-manifests.mjs'],
  ['packages/host-kit/write-event-names.mjs'],
  ['tools/write-interface.mjs'],
  ['deploy/grafana/write-board.mjs'],
  ['node_modules/vitest/vitest.mjs', 'run', 'published-schemas', 'packages/conformance/test/checks', '--update'],
  ['docs/site/api.mjs'],
];

/** The commands of each task, run one after another once everything is set up. */
const TASKS = {
  build: () => [],
  start: (args) => [['examples/reference-host/dist/start.js', ...args]],
  test: (args) => [
    ['node_modules/vitest/vitest.mjs', 'run', ...withoutCiOnly(args), ...args],
    ['tools/check-requirements.mjs'],
  ],
  suites: (args) => [['tools/suites.mjs', ...args]],
  check: (args) => [['tools/check.mjs', ...args]],
  docs: (args) => [
    DOCS.includes(args[0]) ? [`docs/site/${args[0]}.mjs`, ...args.slice(1)] : ['docs/site/build.mjs', ...args],
  ],
  generate: () => GENERATORS,
  bench: (args) => [['bench/run.mjs', ...args]],
  mutate: (args) => [['mutation/run.mjs', ...args]],
  soak: (args) => [['soak/main.ts', ...args]],
  load: (args) => [['load/main.ts', ...args]],
  faults: (args) => [['faults/main.ts', ...args]],
  cli: ([name, ...args]) => [[resolve(commandNamed(name)), ...args]],
  version: () => [['tools/release/version.mjs']],
  pack: (args) => [['tools/release/pack.mjs', ...args]],
};

/** Folders with a lockfile of their own that one task needs. */
const BESIDE = {
  // Bun, Deno and workerd run tests that only CI, or somebody who names them, runs.
  test: (args) => (withoutCiOnly(args).length > 0 ? [] : ['tools/runtimes']),
  bench: () => ['bench'],
  mutate: () => ['mutation'],
  check: () => ['docs/site'],
  docs: () => ['docs/site'],
  generate: () => ['docs/site'],
};

/**
 * The check builds by itself, to report a failed build among its findings. The documentation and the mutants are made from
 * sources.
 */
const WITHOUT_BUILD = ['check', 'docs', 'mutate', 'version'];

const [task = '', ...args] = process.argv.slice(2);
/** The reports of the public types are made from the built declarations. */
const isBuilding = !WITHOUT_BUILD.includes(task) || args[0] === 'api';
const commandsOf = TASKS[task];
if (commandsOf === undefined) {
  console.error(`Unknown task "${task}". There are: ${Object.keys(TASKS).join(', ')}.`);
  process.exit(2);
}

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
try {
  const node = await withLock('.cache/set-up.lock', setUp);
  const commands = commandsOf(args);
  // The paths that a user gives to a command of a package are relative to the user's folder.
  if (task === 'cli') process.chdir(process.env.INIT_CWD ?? '.');
  for (const command of commands) {
    const code = await standIn(node, command);
    if (code !== 0) process.exit(code);
  }
  // Told, and never a failure: another machine, or a busy one, is slower.
  if (task === 'test' && args.length === 0)
    console.log(`npm test took ${process.uptime().toFixed(0)} s; its budget on two quiet cores is ${BUDGETS.tests} s.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

/** A run that names files, titles or projects has those. Any other leaves out the project `ci-only`. */
function withoutCiOnly(args) {
  return args.every((arg) => arg.startsWith('--reporter')) ? ['--project', '!ci-only'] : [];
}

/** @throws {Error} when no package has a command of that name */
function commandNamed(name) {
  const commands = commandsOfPackages();
  const path = commands.get(name);
  if (path !== undefined) return path;
  throw new Error(`There is no command "${name ?? ''}". There are: ${[...commands.keys()].join(', ')}.`);
}

async function setUp() {
  await install();
  for (const folder of BESIDE[task]?.(args) ?? []) await installBeside(folder);
  const node = await pinnedNode();
  if (isBuilding) await build(node);
  return node;
}
