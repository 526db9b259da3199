import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { env, kill, platform } from 'node:process';

/**
 * @import { Outcome } from './outcome.ts'
 *
 * @typedef {object} Ended
 * @property {number} code the exit code; 128 and more after a signal
 * @property {boolean} isTimedOut whether it was ended at its time limit
 * @property {number} seconds
 * @property {Outcome} outcome no test and no failure when the command wrote none
 * @property {readonly string[]} left processes and folders that it did not remove
 */

/** The time that processes get to end after their command. */
const GRACE_MS = 3000;
const POLL_MS = 100;
const TAIL_BYTES = 4000;

/** The commands that run now, so that a signal to this process ends them. */
const running = new Set();

/**
 * Runs one command of a step: its output goes to `log`, its outcome is read from a file, and its temporary files have a
 * folder of their own.
 *
 * @param {{ name: string, command: readonly string[], environment?: Record<string, string>, limitMinutes: number, out: string, temporary: string }} step
 * @returns {Promise<Ended>}
 */
export async function runCommand({ name, command, environment = {}, limitMinutes, out, temporary }) {
  const [log, outcome, folder] = [join(out, `${name}.log`), join(out, `${name}.json`), join(temporary, name)];
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const mark = `${process.pid}-${name}`;
  const started = performance.now();
  const stream = openSync(log, 'w');
  const child = spawn(command[0], command.slice(1), {
    // A group of its own, so that a time limit ends all of it.
    detached: true,
    stdio: ['ignore', stream, stream],
    env: {
      ...env,
      ...environment,
      TMPDIR: folder,
      SVC_OUTCOME: outcome,
      SVC_HOST_LOGS: join(out, 'hosts', name),
      [MARK]: mark,
    },
  });
  closeSync(stream);
  running.add(child);
  let isTimedOut = false;
  const limit = setTimeout(() => {
    isTimedOut = true;
    endAll(child, mark);
  }, limitMinutes * 60_000);
  const code = await new Promise((resolve) => {
    child.on('error', () => resolve(127));
    child.on('exit', (status, signal) => resolve(status ?? (signal === null ? 1 : 128)));
  });
  clearTimeout(limit);
  running.delete(child);
  const seconds = (performance.now() - started) / 1000;
  const left = await leftBehind(mark, folder);
  rmSync(folder, { recursive: true, force: true });
  return { code, isTimedOut, seconds, outcome: readOutcome(outcome), left };
}

/** Ends all commands that run now. */
export function endRunning() {
  for (const child of running) endAll(child, undefined);
}

/** The end of a log. */
export function tailOf(log) {
  if (!existsSync(log)) return '';
  const { size } = statSync(log);
  const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
  const file = openSync(log, 'r');
  readSync(file, buffer, 0, buffer.length, size - buffer.length);
  closeSync(file);
  const lines = buffer.toString().replace(ESCAPES, '').trim().split('\n');
  return lines.slice(-MOST_LINES).join('\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences of terminals begin with one
const ESCAPES = /\u001b\[[0-9;]*[A-Za-z]/g;
const MOST_LINES = 15;

function readOutcome(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { passed: 0, failures: [] };
  }
}

function endAll(child, mark) {
  try {
    kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
  if (mark !== undefined) for (const { pid } of markedProcesses(mark)) endProcess(pid);
}

function endProcess(pid) {
  try {
    kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** Every process inherits it, also one in a group of its own. */
const MARK = 'SVC_GATE_STEP';

async function leftBehind(mark, folder) {
  let processes = markedProcesses(mark);
  for (const end = performance.now() + GRACE_MS; processes.length > 0 && performance.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    processes = markedProcesses(mark);
  }
  for (const { pid } of processes) endProcess(pid);
  const folders = readdirSync(folder).filter((name) => name.startsWith('svc-'));
  return [
    ...processes.map(({ pid, command }) => `a process was left running: ${pid} ${command}`),
    ...folders.map((name) => `a temporary folder was left behind: ${name}`),
  ];
}

/** Processes that a marked command started. Linux alone tells the environment of a process; elsewhere none is found. */
function markedProcesses(mark) {
  if (platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${MARK}=${mark}`)) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
        // A zombie has no command line: it has ended, and waits for its parent.
        return command === '' ? [] : [{ pid: Number(pid), command: command.slice(0, LONGEST_COMMAND) }];
      } catch {
        return [];
      }
    });
}

const LONGEST_COMMAND = 160;
