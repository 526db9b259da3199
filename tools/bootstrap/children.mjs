import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter } from 'node:path';

const children = new Set();
let isPassingSignalsOn = false;
let interruptedBy;

/**
 * Runs one step of the set-up to its end. A signal to this process ends the step, and then this process.
 *
 * @returns {Promise<{ code: number, signal: NodeJS.Signals | undefined, output: string }>} the exit code, the signal that ended it, and the
 *   output of both streams
 */
export async function run(command, args, options = {}) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  const code = await ended(child);
  if (interruptedBy !== undefined) process.exit(exitCodeOf(null, interruptedBy));
  return { code, signal: child.signalCode ?? undefined, output: Buffer.concat(chunks).toString() };
}

/**
 * Runs a program in place of this process: with its streams and its exit code, and with every signal once. A terminal
 * signals its whole foreground group, and npm signals its child a second time; so the program gets a group of its own,
 * and its signals only from here.
 *
 * @param {string} node
 * @param {readonly string[]} command
 * @param {{ echoMs?: number }} [options] `echoMs`: a signal is dropped when the same one came less than this time ago;
 *   default 300
 * @returns {Promise<number>} the exit code
 */
export function standIn(node, command, { echoMs = ECHO_MS } = {}) {
  const lifeline = new URL('./end-with-parent.mjs', import.meta.url).href;
  const child = spawn(node, ['--import', lifeline, ...command], {
    detached: process.platform !== 'win32',
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, SVC_STANDS_IN_FOR: String(process.pid) },
  });
  child.stdio[3].resume();
  return ended(child, echoMs).finally(() => endGroup(child));
}

/** Ends the processes that a crashed program left running, which would keep its ports and its database. */
function endGroup({ pid }) {
  try {
    if (process.platform !== 'win32') process.kill(-pid, 'SIGTERM');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Returns the environment without node_modules/.bin in the path, because its programs are about to be replaced. */
export function withoutInstalledPrograms(environment) {
  const name = Object.keys(environment).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  const folders = (environment[name] ?? '').split(delimiter);
  return {
    ...environment,
    [name]: folders.filter((folder) => !/node_modules[\\/]\.bin$/.test(folder)).join(delimiter),
  };
}

function ended(child, echoMs = ECHO_MS) {
  if (!isPassingSignalsOn) passSignalsOn(echoMs);
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

/** The same signal within this time is its repetition by the terminal or npm. */
const ECHO_MS = 300;

/** The signal that a child gets for each received one. SIGHUP becomes SIGTERM, for which programs have a handler. */
const PASSED_ON = { SIGINT: 'SIGINT', SIGTERM: 'SIGTERM', SIGHUP: 'SIGTERM' };
const WATCH_MS = 200;

/** Installs handlers that pass each signal to the children; without a child the signal ends this process. */
function passSignalsOn(echoMs) {
  const lastAt = {};
  const pass = (signal) => {
    const at = Date.now();
    if (at - (lastAt[signal] ?? 0) < echoMs) return;
    lastAt[signal] = at;
    interruptedBy = signal;
    if (children.size === 0) process.exit(exitCodeOf(null, signal));
    for (const child of children) child.kill(signal);
  };
  for (const [received, signal] of Object.entries(PASSED_ON)) process.on(received, () => pass(signal));
  // A SIGTERM to npm ends only the shell between npm and this process.
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
