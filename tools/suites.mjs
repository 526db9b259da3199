/**
 * `npm run suites` runs every suite of `suites/`, `npm run suites -- NAME …` only the named ones. A suite is a folder
 * with its own lockfile and test files for Node's test runner, which use the packages as tarballs. A skipped test is a
 * failure.
 * `SVC_TARBALLS` names the folder of the tarballs, `SVC_CHECKOUT` the checkout.
 */
import { globSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
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
  const failed = [];
  for (const name of asked.length > 0 ? asked : SUITES) failed.push(...(await failuresOf(name)));
  for (const { suite, test } of failed) console.error(`failed: ${suite} > ${test}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
} finally {
  rmSync(tarballs, { recursive: true, force: true });
}

/** Runs one suite and prints its tests. A skipped test is a failure, and so is a suite in which no test passed. */
async function failuresOf(suite) {
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
    if (isLeftOut) failures.push({ suite, test: `${test.name} was skipped` });
    else if (outcome === 'failed') failures.push({ suite, test: test.name });
  };
  tests.on('test:pass', (test) => count(test, 'passed'));
  tests.on('test:fail', (test) => count(test, 'failed'));
  for await (const text of tests.compose(spec)) stdout.write(text);
  console.log(`${suite}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.passed > 0 || failures.length > 0 ? failures : [{ suite, test: 'no test ran' }];
}
