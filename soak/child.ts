import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A process of the soak's world. What it writes to stderr goes to a log in the soak's folder. */
export interface Child {
  readonly process: ChildProcess;
  /** The first line of its stdout, which says that it is ready; rejects when it ends before. */
  readonly firstLine: Promise<string>;
  /** Resolves with how it ended. */
  readonly ended: Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Starts a program on this Node.
 *
 * @param logFile what it writes to stderr is appended to it
 */
export function launch(args: readonly string[], logFile: string): Child {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', openSync(logFile, 'a'), 'ipc'] });
  const ended = new Promise<string>((resolve) => {
    child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  // It may end while something is on its way to it.
  child.on('error', () => {});
  return {
    process: child,
    firstLine: Promise.race([
      firstLineOf(child),
      ended.then((how) => Promise.reject(new Error(`ended early: ${how}`))),
    ]),
    ended,
    kill: (signal) => void child.kill(signal),
  };
}

function firstLineOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    if (child.stdout !== null) createInterface({ input: child.stdout }).once('line', resolve);
  });
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(ms, 0)));
}

/** Tries until it succeeds, for at most `deadlineMs`. */
export async function soon<T>(what: string, attempt: () => Promise<T>, deadlineMs = 60_000): Promise<T> {
  for (const end = Date.now() + deadlineMs; ; ) {
    try {
      return await attempt();
    } catch (cause) {
      if (Date.now() > end) throw new Error(`${what} did not succeed within ${deadlineMs / 1000} s`, { cause });
      await sleep(200);
    }
  }
}
