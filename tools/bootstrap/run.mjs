// What `npm start`, `npm test`, `npm run build` and `npm run check` run, with whatever Node the machine has: it sets up what is
// missing, says so, and hands over to the Node that the lockfile pins. It uses nothing newer than Node 18.
import { spawn } from 'node:child_process';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { pinnedNode } from './pinned-node.mjs';

/** The commands of each task, run one after another. */
const TASKS = {
  build: () => [],
  start: (args) => [['examples/reference-host/dist/start.js', ...args]],
  test: (args) => [['node_modules/vitest/vitest.mjs', 'run', ...args], ['tools/check-requirements.mjs']],
  check: () => [['tools/check.mjs']],
};

const [task = '', ...args] = process.argv.slice(2);
const commands = TASKS[task];
if (commands === undefined) {
  console.error(`Unknown task "${task}". There are: ${Object.keys(TASKS).join(', ')}.`);
  process.exit(2);
}

try {
  install();
  const node = pinnedNode();
  build(node);
  for (const command of commands(args)) {
    const code = await run(node, command);
    if (code !== 0) process.exit(code);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

/** Runs a command in this process's place: same streams, same signals, same exit code. */
function run(node, command) {
  const child = spawn(node, command, { stdio: 'inherit' });
  // A terminal signals the whole group, so the child has its SIGINT already.
  const ignore = () => {};
  const pass = () => child.kill('SIGTERM');
  process.on('SIGINT', ignore).on('SIGTERM', pass);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      process.off('SIGINT', ignore).off('SIGTERM', pass);
      resolve(code ?? (signal === 'SIGINT' ? 130 : 1));
    });
  });
}
