import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter } from 'node:path';

const children = new Set();
let isPassingSignalsOn = false;
let interruptedBy;

/**
 * Runs one step of the set-up to its end. A signal to this process ends the step, and then this process.
 *
 * @returns {Promise<{ code: number, output: string }>} what it printed, both streams in one
 */
export async function run(command, args, options = {}) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  const code = await ended(child);
  if (interruptedBy !== undefined) process.exit(exitCodeOf(null, interruptedBy));
  return { code, output: Buffer.concat(chunks).toString() };
}

/**
 * Runs a program in this process's place: same streams, same exit code, and every signal once. A terminal signals all of its
 * foreground group, and npm signals its child a second time; so the program has a group of its own and hears from here alone.
 */
export function standIn(node, command) {
  const lifeline = new URL('./end-with-parent.mjs', import.meta.url).href;
  const child = spawn(node, ['--import', lifeline, ...command], {
    detached: process.platform !== 'win32',
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, SVC_STANDS_IN_FOR: String(process.pid) },
  });
  child.stdio[3].resume();
  return ended(child).finally(() => endGroup(child));
}

/** What a program that fell over leaves running would hold its ports and its database. */
function endGroup({ pid }) {
  try {
    if (process.platform !== 'win32') process.kill(-pid, 'SIGTERM');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** The environment in which programs are those of the machine, since the ones of node_modules are about to be replaced. */
export function withoutInstalledPrograms(environment) {
  const name = Object.keys(environment).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  const folders = (environment[name] ?? '').split(delimiter);
  return {
    ...environment,
    [name]: folders.filter((folder) => !/node_modules[\\/]\.bin$/.test(folder)).join(delimiter),
  };
}

function ended(child) {
  if (!isPassingSignalsOn) passSignalsOn();
  isPassingSignalsOn = true;
  children.add(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(exitCodeOf(code, signal)));
  }).finally(() => children.delete(child));
}

function exitCodeOf(code, signal) {
  return code ?? 128 + (constants.signals[signal] ?? 1);
}

/** The same signal within this time is the echo of the one before it. */
const ECHO_MS = 300;

/** What is received, and what is passed on: a closed terminal asks for the same end as SIGTERM, which programs know. */
const PASSED_ON = { SIGINT: 'SIGINT', SIGTERM: 'SIGTERM', SIGHUP: 'SIGTERM' };
const WATCH_MS = 200;

/** From the first child on, a signal ends the children first. */
function passSignalsOn() {
  const lastAt = {};
  const pass = (signal) => {
    const at = Date.now();
    if (at - (lastAt[signal] ?? 0) < ECHO_MS) return;
    lastAt[signal] = at;
    interruptedBy = signal;
    if (children.size === 0) process.exit(exitCodeOf(null, signal));
    for (const child of children) child.kill(signal);
  };
  for (const [received, signal] of Object.entries(PASSED_ON)) process.on(received, () => pass(signal));
  // A SIGTERM to npm ends the shell between npm and this process, and goes no further.
  if (process.env.npm_lifecycle_event !== undefined) onParentGone(() => pass('SIGTERM'));
}

function onParentGone(then) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    then();
  }, WATCH_MS).unref();
}
