import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { DatabaseFile } from './database-file.ts';

/** Checks a database for damage. */
export interface DatabaseCheck {
  /** @see StoreFiles.check */
  check(budgetMs: number): Promise<'sound' | 'unfinished'>;
  /** Ends a check that goes on. */
  close(): void;
}

export interface DatabaseCheckOptions {
  readonly path: string;
  readonly reader: DatabaseSync;
  readonly file: Pick<DatabaseFile, 'fail'>;
  /** A larger database is checked by a process of its own. Default 16 MiB, about 50 ms of work. */
  readonly inlineBytes?: number;
}

/**
 * Checks with `PRAGMA quick_check`. The statement cannot be interrupted and blocks its thread, which is too long for a
 * large database; a process of its own can be ended at any time.
 *
 * @see https://www.sqlite.org/pragma.html#pragma_quick_check
 */
export function databaseCheck(options: DatabaseCheckOptions): DatabaseCheck {
  const { path, reader, file, inlineBytes = 16 * 1024 * 1024 } = options;
  let checking: ChildProcess | undefined;

  return {
    async check(budgetMs) {
      if (statSync(path).size <= inlineBytes) {
        requireSound(checkedHere());
        return 'sound';
      }
      const found = checkedApart();
      const outcome = await inTime(found, budgetMs);
      if (outcome !== undefined) return requireSound(outcome);
      // The check must not keep a process alive that has nothing else to do.
      checking?.unref();
      found.then(requireSound).catch((cause: Error) => file.fail(cause));
      return 'unfinished';
    },
    close: () => void checking?.kill('SIGKILL'),
  };

  function checkedHere(): string {
    try {
      return String(reader.prepare(STATEMENT).get()?.quick_check);
    } catch (error) {
      return error instanceof Error ? error.message : 'unreadable';
    }
  }

  /** Resolves with the first line of the result; with `unknown` when the process could not check. */
  function checkedApart(): Promise<string> {
    return new Promise((resolve) => {
      // Without NODE_OPTIONS: modules that are loaded before the host have no business in the check.
      const env = { ...process.env, NODE_OPTIONS: '' };
      const child = spawn(process.execPath, ['--no-warnings', '--eval', PROGRAM, path], {
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      checking = child;
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        if (said.length < 10_000) said += chunk;
      });
      child.once('error', () => resolve(UNKNOWN));
      child.once('close', () => resolve(said.trim() === '' ? UNKNOWN : said.trim()));
    });
  }

  function requireSound(result: string): 'sound' | 'unfinished' {
    if (result === 'ok') return 'sound';
    if (result === UNKNOWN) return 'unfinished';
    throw new Error(
      `${path}: the database is damaged (${result.split('\n')[0]}). Restore it from a backup, or recover it with the command .recover of the sqlite3 shell.`,
    );
  }
}

function inTime<T>(work: Promise<T>, budgetMs: number): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), budgetMs);
    void work.then((result) => {
      clearTimeout(timer);
      resolve(result);
    });
  });
}

const UNKNOWN = 'unknown';
const STATEMENT = 'PRAGMA quick_check(1)';
const PROGRAM = `
const { DatabaseSync } = require('node:sqlite');
try {
  const database = new DatabaseSync(process.argv[1], { readOnly: true, timeout: 5000 });
  console.log(database.prepare('${STATEMENT}').get().quick_check);
} catch (error) {
  // Busy or locked by another process: nothing is known about the database.
  if (error.errcode !== 5 && error.errcode !== 6) console.log(error.message);
}
`;
