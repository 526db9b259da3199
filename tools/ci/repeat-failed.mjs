/**
 * `node tools/ci/repeat-failed.mjs OUTCOME REPEATED` runs the failed files of a run again, one at a time, and writes their
 * outcome to `REPEATED`. It fails without a run when more than ten files failed, or when the file of a failure is not known.
 * It runs on any Node.
 */
import { spawnSync } from 'node:child_process';
import { argv, env, exit } from 'node:process';
import { outcomeOf } from './count-tests.mjs';

/** More failed files than this are no matter of a busy machine. */
const MOST_FILES = 10;

const [, , path = '', repeatedPath = ''] = argv;
const files = [...new Set(outcomeOf(path).failures.map(({ file }) => file))];
if (files.length === 0 || files.length > MOST_FILES || files.includes('')) exit(1);

console.log(`Running ${files.length} failed file(s) again, one at a time …`);
const reporters = ['--reporter=default', '--reporter=./tools/ci/outcome-reporter.ts'];
const { status } = spawnSync('npm', ['run', 'test', '--', '--no-file-parallelism', ...reporters, ...files], {
  env: { ...env, SVC_OUTCOME: repeatedPath },
  stdio: ['ignore', 'inherit', 'inherit'],
});
exit(status ?? 1);
