/**
 * `npm run suites` runs every suite of `suites/`, `npm run suites -- NAME …` only the named ones. A suite is a folder
 * with its own lockfile and test files for Node's test runner, which use the packages as tarballs. A skipped test is a
 * failure. `SVC_OUTCOME` names a file for the outcome, which `.ci/run` reads.
 * `SVC_TARBALLS` names the folder of the tarballs, `SVC_CHECKOUT` the checkout.
 */
import { globSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv, env, exit, stdout } from 'node:process';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { installBeside } from './bootstrap/install.mjs';
import { withLock } from './bootstrap/lock.mjs';
import { packageFolders } from './bootstrap/workspaces.mjs';
import { pack } from './package-tarball.mjs';

/** A test that hangs fails after this time. */
const TEST_MS = 10 * 60_000;

/** Of the message of a failed test, in the outcome. */
const MOST_LINES = 5;

const SUITES = readdirSync('suites', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

const asked = argv.slice(2);
const unknown = asked.filter((name) => !SUITES.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown suite: ${unknown.join(', ')}. Choose from ${SUITES.join(', ')}.`);
  exit(2);
}

const tarballs = mkdtempSync(join(tmpdir(), 'svc-suites-'));
try {
  for (const folder of packageFolders()) await pack('.', folder, tarballs);
  Object.assign(env, { SVC_TARBALLS: tarballs, SVC_CHECKOUT: resolve('.') });
  const outcome = { passed: 0, failures: [] };
  for (const name of asked.length > 0 ? asked : SUITES) {
    const { passed, failures } = await outcomeOf(name);
    outcome.passed += passed;
    outcome.failures.push(...failures);
  }
  for (const { file, test } of outcome.failures) console.error(`failed: ${file} > ${test}`);
  if (env.SVC_OUTCOME !== undefined) writeFileSync(env.SVC_OUTCOME, JSON.stringify(outcome));
  process.exitCode = outcome.failures.length === 0 ? 0 : 1;
} finally {
  rmSync(tarballs, { recursive: true, force: true });
}

/** Runs one suite and prints its tests. A skipped test is a failure, and so is a suite in which no test passed. */
async function outcomeOf(suite) {
  const folder = resolve('suites', suite);
  console.log(`\n── ${suite} ──`);
  await withLock(`.cache/suite-${suite}.lock`, () => installBeside(join('suites', suite)));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  const files = globSync('test/**/*.test.mjs', { cwd: folder }).map((path) => join(folder, path));
  const tests = run({ files, cwd: folder, concurrency: 1, execArgv: [], timeout: TEST_MS });
  const count = (test, outcome) => {
    // A suite of tests is no test of its own.
    if (test.details.type === 'suite') return;
    const isLeftOut = test.skip !== undefined || test.todo !== undefined;
    counts[isLeftOut ? 'skipped' : outcome] += 1;
    if (isLeftOut) failures.push({ file: suite, test: test.name, message: 'The test was skipped.' });
    else if (outcome === 'failed')
      failures.push({ file: suite, test: test.name, message: messageOf(test.details.error) });
  };
  tests.on('test:pass', (test) => count(test, 'passed'));
  tests.on('test:fail', (test) => count(test, 'failed'));
  for await (const text of tests.compose(spec)) stdout.write(text);
  console.log(`${suite}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  const isEmpty = counts.passed === 0 && failures.length === 0;
  return { passed: counts.passed, failures: isEmpty ? [{ file: suite, message: 'No test ran.' }] : failures };
}

/** The first lines of an error, which Node's runner wraps. */
function messageOf(error) {
  const { message = String(error) } = error?.cause ?? error ?? {};
  return message.split('\n').slice(0, MOST_LINES).join(' ');
}
