import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { cwd, env } from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';
import type { Failure, Outcome } from './outcome.ts';

/**
 * Writes the outcome of a run into the file that `SVC_OUTCOME` names. Vitest's own JSON report leaves out unhandled errors,
 * which fail a run in which every test passed.
 */
export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    if (env.SVC_OUTCOME === undefined) throw new TypeError('SVC_OUTCOME: is missing. Set it to the path of a file.');
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const outcome: Outcome = {
      passed: tests.filter((test) => test.result().state === 'passed').length,
      failures: [...modules.flatMap(failuresOf), ...unhandled.map(unhandledFailure)],
    };
    writeFileSync(env.SVC_OUTCOME, JSON.stringify(outcome));
  }
}

/** A file that could not be loaded, and one whose worker crashed, count as one failure each. A skipped test is a failure: it proves nothing. */
function failuresOf(module: TestModule): Failure[] {
  const file = relative(cwd(), module.moduleId);
  const failed = [...module.children.allTests()].filter((test) => test.result().state === 'failed');
  const skipped = [...module.children.allTests()]
    .filter((test) => test.result().state === 'skipped')
    .map((test) => ({ file, test: test.fullName, message: 'The test was skipped.' }));
  if (failed.length > 0) {
    return failed.map((test) => ({
      file,
      test: test.fullName,
      message: messageOf(test.result().errors?.[0]),
      // Files of snapshots are generated. An inline one is a part of its test, and has another message.
      ...(isStaleFile(test.result().errors?.[0]?.message) && { mend: 'npm run generate' }),
    }));
  }
  // The tests below a hook that failed are skipped too: then the error of the hook tells the reason.
  if (module.state() === 'passed' || module.state() === 'skipped') return skipped;
  const failedSuite = [...module.children.allSuites()].flatMap((suite) => suite.errors())[0];
  return [{ file, message: messageOf(module.errors()[0] ?? failedSuite ?? { message: 'The file did not end.' }) }];
}

function isStaleFile(message = ''): boolean {
  return /^Snapshot `.*` mismatched/s.test(message);
}

function unhandledFailure(error: SerializedError): Failure {
  // The error of a crashed worker names its file in the message of its cause.
  const message = error.cause instanceof Error ? error.cause.message : (error.message ?? '');
  const crashedIn = / while running test file (.+)$/.exec(message)?.[1];
  const path: unknown = error.VITEST_TEST_PATH ?? crashedIn;
  const file = typeof path === 'string' ? relative(cwd(), path) : '';
  return { file, test: 'unhandled error', message: firstLine(message) };
}

/** The first line of an error. Where values were compared, their difference follows: the line itself abbreviates them. */
function messageOf(error: { readonly message?: string; readonly diff?: string } = {}): string {
  const first = firstLine(error.message);
  if (error.diff === undefined) return first;
  const changed = stripVTControlCharacters(error.diff)
    .split('\n')
    .filter((line) => /^[+-] /.test(line));
  return `${first} (${changed.join(' ').replace(/\s+/g, ' ').slice(0, LONGEST_DIFFERENCE)})`;
}

/** In characters: enough for the checks that a report names, and few beside the log itself. */
const LONGEST_DIFFERENCE = 2000;

function firstLine(message = ''): string {
  return message.split('\n', 1)[0] ?? '';
}
