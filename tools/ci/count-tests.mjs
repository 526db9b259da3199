/**
 * `node tools/ci/count-tests.mjs OUTCOME REPEATED [OUTCOME REPEATED …]` prints the counts of all runs in its last line. It fails
 * when a test failed, or when none passed in one of the runs. `REPEATED` is the outcome of the failed files of that run, run
 * again one at a time: a failure that does not return is named as such, and counts all the same. The lines before the last
 * one name each failed test, because the end of a long log is kept longest. It runs on any Node.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/**
 * @import { Failure, Outcome } from './outcome.ts'
 */

/**
 * Reads an outcome that the reporter beside this file wrote.
 *
 * @param {string} path
 * @returns {Outcome} no test and no failure when the run ended before its outcome was written
 */
export function outcomeOf(path) {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text === '' ? { passed: 0, failures: [] } : JSON.parse(text);
}

/**
 * Counts the tests of a run. The repetition decides about the failed files alone, and only when a test of it passed.
 *
 * @param {Outcome} first
 * @param {Outcome} [repeated]
 * @returns {{ passed: number, failed: readonly Failure[], unsteady: readonly Failure[] }}
 */
export function countTests(first, repeated = { passed: 0, failures: [] }) {
  if (repeated.passed === 0) return { passed: first.passed, failed: first.failures, unsteady: [] };
  const stillFails = ({ file }) => file === '' || repeated.failures.some((failure) => failure.file === file);
  const unsteady = first.failures.filter((failure) => !stillFails(failure));
  return {
    passed: first.passed,
    failed: first.failures.filter(stillFails),
    unsteady,
  };
}

function main(paths) {
  const runs = [];
  for (let at = 0; at < paths.length; at += 2) {
    runs.push(countTests(outcomeOf(paths[at]), paths[at + 1] === undefined ? undefined : outcomeOf(paths[at + 1])));
  }
  const [unsteady, failed] = [runs.flatMap((run) => run.unsteady), runs.flatMap((run) => run.failed)];
  for (const failure of unsteady) console.log(`failed once, passed when run alone: ${lineOf(failure)}`);
  for (const failure of failed) console.log(`failed: ${lineOf(failure)}`);
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const failures = failed.length + unsteady.length;
  console.log(`${passed} passed, ${failures} failed`);
  process.exitCode = failures === 0 && runs.every((run) => run.passed > 0) ? 0 : 1;
}

function lineOf({ file, test, message }) {
  return [file, test, message].filter(Boolean).join(' > ');
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) main(argv.slice(2));
