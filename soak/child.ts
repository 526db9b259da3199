import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A process of the soak. Its stderr is appended to a log in the soak's folder. */
export interface Child {
  readonly process: ChildProcess;
  /** The first line of its stdout, which it writes when it is ready; rejects when it exits before. */
  readonly firstLine: Promise<string>;
  /** Resolves with the signal or exit code when it exits. */
  readonly ended: Promise<string>;
  /** Sends a signal. */
  kill(signal: NodeJS.Signals): void;
}

/**
 * Starts a program on this Node.
 *
 * @param logFile receives the program's stderr
 * @param env added to the environment of this process
 */
export function launch(args: readonly string[], logFile: string, env: Readonly<Record<string, string>> = {}): Child {
  const stdio: StdioOptions = ['ignore', 'pipe', openSync(logFile, 'a'), 'ipc'];
  const child = spawn(process.execPath, args, { stdio, env: { ...process.env, ...env } });
  const ended = new Promise<string>((resolve) => {
    child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  // It may exit while a message to it is in flight, which would otherwise end this process.
  child.on('error', () => {});
  return {
    process: child,
    firstLine: Promise.race([
      firstLineOf(child),
      ended.then((how) =>
        Promise.reject(new Error(`The process ended before it was ready (${how}). Its log says why.`)),
      ),
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

/** Resolves after `ms` milliseconds; a negative value counts as 0. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(ms, 0)));
}

/**
 * Retries every 200 ms until the attempt succeeds.
 *
 * @param name the subject of the error
 * @throws {Error} when the attempt still fails after `deadlineMs`
 */
export async function soon<T>(name: string, attempt: () => Promise<T>, deadlineMs = 60_000): Promise<T> {
  for (const end = Date.now() + deadlineMs; ; ) {
    try {
      return await attempt();
    } catch (cause) {
      if (Date.now() > end) throw new Error(`${name} did not succeed within ${deadlineMs / 1000} s`, { cause });
      await sleep(200);
    }
  }
}
